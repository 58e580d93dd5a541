//! Actions that need a fresh one-time code: the first step stores the action, and the second carries it out.

pub mod begin;
pub mod confirm;

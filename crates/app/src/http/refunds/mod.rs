//! `/v1/charges/{id}/refunds`.

pub mod create;
pub mod list;
pub mod terms;

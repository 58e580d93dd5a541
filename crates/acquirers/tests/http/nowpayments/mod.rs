//! The adapter of NOWPayments: orders, answers in all their forms, and bad luck.

mod answers;
mod bad_luck;
mod callbacks;
mod deposits;
mod finding;
mod guard;
mod reads;
mod refusals;
mod sandbox;
mod withdrawals;

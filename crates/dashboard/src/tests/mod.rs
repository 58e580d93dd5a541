//! Pages over a store in memory, as a browser sees them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod access;
mod browser;
mod charges;
mod crypto;
mod events;
mod forgery;
mod headers;
mod home;
mod hostile;
mod infractions;
mod keys;
mod logins;
mod operator;
mod operator_checks;
mod operator_reviews;
mod pay;
mod payouts;
mod routes;
mod settings;
mod shop;
mod splits;
mod statement;
mod transactions;
mod twice;
mod webhooks;
mod weight;

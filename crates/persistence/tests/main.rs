//! The store against its contract and against real databases: a SQLite file and a PostgreSQL server.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alone;
mod audit;
mod impossible;
mod infractions;
mod locks;
mod postgres;
mod proxy;
mod queue;
mod queue_metrics;
mod readiness;
mod retention;
mod sqlite;
mod stores;

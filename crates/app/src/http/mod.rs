//! The REST API over HTTP: routes, checks, bodies, errors, documents. It decides nothing about money.

mod auth;
mod balance;
mod body;
mod call;
pub mod callbacks;
mod charges;
mod docs;
pub mod error;
mod fingerprint;
mod health;
mod issue;
mod json;
pub mod openapi;
mod percent;
mod query;
mod reply;
pub mod routes;
pub mod sandbox;
mod server;
mod service;
pub mod state;
pub mod telemetry;

pub use callbacks::CallbackPaths;
pub use sandbox::{FaultMode, Institution, SandboxControls};
pub use server::{ServeOptions, Servers, serve};
pub use state::{AppState, WorkerBell};
pub use telemetry::Telemetry;

#[cfg(test)]
mod tests;

//! The REST API over HTTP: routes, checks, bodies, errors, documents. No decision about money is made here.

mod accept;
pub mod addresses;
mod auth;
pub mod auth_failures;
mod balance;
mod body;
pub mod callbacks;
pub mod causes;
mod charges;
mod client;
pub mod connections;
mod context;
mod crypto;
mod csv;
mod describe;
mod docs;
pub mod error;
mod events;
mod fallback;
mod filters;
mod fingerprint;
mod health;
mod idempotency;
mod infractions;
mod input;
mod middleware;
mod named;
pub mod openapi;
mod paging;
mod payouts;
mod percent;
mod query;
mod refunds;
mod reply;
pub mod resources;
mod routes;
mod rules;
pub mod sandbox;
mod server;
pub mod state;
mod statement;
pub mod telemetry;
pub mod trace;
mod transactions;
mod webhooks;

pub use auth_failures::AuthFailures;
pub use cais_use_cases::crypto::currency_cache::RecentCurrencies;
pub use cais_use_cases::days;
pub use callbacks::CallbackPaths;
pub use connections::{ConnectionLimits, DEFAULT_PER_ADDRESS};
pub use csv::Exports;
pub use sandbox::{
    FaultMode, InfractionRequest, Institution, InstitutionError, NotificationSignature, PaymentStep, Resolution,
    SandboxCoin, SandboxCoinChange, SandboxControls, SandboxDollar, SandboxDollarChange, SandboxNotifications,
    SandboxNotificationsChange, SentCoins, SimulatedProcessor, WithdrawalFailure,
};
pub use server::{ServeOptions, Servers, serve};
pub use state::{AppState, Pages, Wakeup, WorkerWakeups};
pub use telemetry::Telemetry;

#[cfg(test)]
mod tests;

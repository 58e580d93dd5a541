//! A merchant's access to the service: accounts and their changes, API keys, idempotency keys and webhook endpoints.
//!
//! Other modules describe Pix and money. They use this module only for the webhook endpoint of a charge or deposit.

pub mod account;
pub mod account_change;
pub mod api_key;
pub mod idempotency_key;
pub mod webhook;

//! The values that only the merchant API has: accounts and their changes, API keys, idempotency keys and webhook endpoints.
//!
//! Other modules describe Pix and money. They use this module only to name the webhook endpoint of a charge or deposit.

pub mod account;
pub mod account_change;
pub mod api_key;
pub mod idempotency_key;
pub mod webhook;

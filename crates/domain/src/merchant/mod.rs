//! The values that only the merchant API has: accounts, API keys, idempotency keys and webhook endpoints.
//!
//! Other modules describe Pix and money. They use this module only to name the webhook endpoint of a charge or deposit.

pub mod account;
pub mod api_key;
pub mod idempotency_key;
pub mod webhook;

//! The rate limit of API keys.

use async_trait::async_trait;
use cais_domain::merchant::api_key::KeyPrefix;
use jiff::Timestamp;

/// The result of counting one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDecision {
    /// True if the call is within the limit.
    pub allowed: bool,
    /// Calls per window.
    pub limit: u32,
    /// Calls left in this window.
    pub remaining: u32,
    /// The end of the window, Unix seconds.
    pub reset_s: i64,
}

/// A fixed window of 60 s per key, aligned to the Unix epoch's minutes.
#[async_trait]
pub trait RateLimits: Send + Sync {
    /// Counts one call of the key.
    async fn count(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision;
}

//! The rate limit of API keys.

use async_trait::async_trait;
use cais_domain::merchant::api_key::KeyPrefix;
use jiff::Timestamp;

/// The result of counting one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDecision {
    /// `true` if the request is within the limit.
    pub allowed: bool,
    /// The number of requests that a window permits.
    pub limit: u32,
    /// The number of requests that are left in this window.
    pub remaining: u32,
    /// The end of the window, in Unix seconds.
    pub reset_s: i64,
}

/// A counter of requests in fixed windows of 60 s per key. The windows start with the minutes of the Unix epoch.
#[async_trait]
pub trait RateLimits: Send + Sync {
    /// Counts one request of the key.
    async fn count(&self, key: &KeyPrefix, now: Timestamp) -> RateDecision;
}

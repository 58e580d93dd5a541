//! The use of the API: the last use of each key, and a log of recent requests. No decision depends on these rows.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::api_key::KeyPrefix;
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// The number of logged requests that are kept for an account, the newest. Their rows need about 2 MiB.
pub const MAX_LOGGED_REQUESTS: u32 = 10_000;

/// The last use of an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// The public part of the key.
    pub key: KeyPrefix,
    /// The instant of the use.
    pub at: Timestamp,
    /// The address of the caller, empty if unknown.
    pub address: String,
}

/// An answered request. Its body and query string are never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The identifier. The answer contains it too.
    pub id: RequestId,
    /// The account of the key.
    pub account: AccountId,
    /// The instant of the answer.
    pub at: Timestamp,
    /// The HTTP method.
    pub method: String,
    /// The path, without the query string. A path that is too long is cut.
    pub path: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The public part of the key.
    pub key: KeyPrefix,
    /// The duration, in milliseconds.
    pub took_ms: u32,
}

/// The use of the API.
#[async_trait]
pub trait UsageQueries: Send + Sync {
    /// Returns the last use of each of the account's keys, for at most the newest 200 keys. Keys that were never used
    /// are left out.
    async fn list_key_uses(&self, account: AccountId) -> Result<Vec<KeyUse>, QueryError>;
    /// Lists the logged requests of the account. The newest come first.
    async fn list_requests(
        &self,
        account: AccountId,
        page: PageRequest<RequestId>,
    ) -> Result<Page<LoggedRequest>, QueryError>;
}

//! The use of the API: the last use of each key, and a log of recent requests. None of these rows is needed for a decision.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::api_key::KeyPrefix;
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// The number of newest requests of an account that a trim keeps: a busy hour of one key, at about 2 MiB.
pub const MAX_LOGGED_REQUESTS: u32 = 10_000;

/// The last use of an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// The public part of the key.
    pub key: KeyPrefix,
    /// The instant.
    pub at: Timestamp,
    /// The address of the caller; empty if it is not known.
    pub address: String,
}

/// An answered request. Bodies and the values of queries are never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The identifier, which the answer carries too.
    pub id: RequestId,
    /// The account of the key.
    pub account: AccountId,
    /// The instant of the answer.
    pub at: Timestamp,
    /// The HTTP method.
    pub method: String,
    /// The beginning of the path, without the query.
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
    /// Returns the last uses of the account's newest keys, at most 200. Unused keys have none.
    async fn list_key_uses(&self, account: AccountId) -> Result<Vec<KeyUse>, QueryError>;
    /// Lists the logged requests of the account, newest first.
    async fn list_requests(
        &self,
        account: AccountId,
        page: PageRequest<RequestId>,
    ) -> Result<Page<LoggedRequest>, QueryError>;
}

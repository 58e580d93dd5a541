//! The read side: what use cases load before they decide. Every read sees every commit that was answered before it began.

use async_trait::async_trait;
use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::KeyPrefix;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, NoticeId};
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use jiff::Timestamp;

use crate::audit::AuditQueries;
use crate::change_set::ReservationKey;
use crate::claim::{Claim, ClaimRef};
use crate::events::{DeliveryQueries, EndpointQueries, EventQueries};
use crate::infractions::InfractionQueries;
use crate::keys::ApiKeyRecord;
use crate::money_out::{PayoutQueries, RefundQueries, ReleaseQueries};
use crate::notice::{Notice, NoticeCounts};
use crate::page::{Page, PageRequest};
use crate::position::PositionQueries;
use crate::statement::{ReconciliationQueries, StatementQueries, TimelineQueries};

/// Why a read has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The store did not answer in time or cannot be reached.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A row is not what was written.
    #[error("the store holds something impossible: {0}")]
    Corrupt(String),
}

/// The parts of a merchant's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balances {
    /// May be used now.
    pub available: Money,
    /// Waits for its release.
    pub pending: Money,
    /// Held.
    pub blocked: Money,
    /// On its way out.
    pub in_transit: Money,
}

/// Charges.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ChargeQueries: Send + Sync {
    /// A charge of the account, in whatever state.
    async fn find_charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError>;
    /// The charge of that name upstream, in whatever state.
    async fn find_charge_by_txid(&self, txid: &Txid) -> Result<Option<Charge>, QueryError>;
    /// The payment that was credited to the account by that Pix.
    async fn find_payment(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Option<CreditedPayment>, QueryError>;
    /// The visible charges of the account, newest first.
    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError>;
    /// Pending charges of all accounts whose time was over before `before`, the longest overdue first.
    async fn list_overdue_charges(&self, before: Timestamp, limit: u32) -> Result<Vec<Charge>, QueryError>;
}

/// Unique values.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReservationQueries: Send + Sync {
    /// The public id of the value's owner.
    async fn find_owner(&self, key: &ReservationKey) -> Result<Option<String>, QueryError>;
}

/// Idempotency claims.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ClaimQueries: Send + Sync {
    /// The claim of that name.
    async fn find_claim(&self, name: &ClaimRef) -> Result<Option<Claim>, QueryError>;
    /// Unanswered claims that are due at `now` and whose lease is over, the longest overdue first. [`crate::Due`] judges both, with
    /// [`cais_domain::pause::MAX_PAUSE`] and [`crate::CLAIM_LEASE`].
    async fn list_due_claims(&self, now: Timestamp, limit: u32) -> Result<Vec<Claim>, QueryError>;
}

/// Accounts.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AccountQueries: Send + Sync {
    /// The account.
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>, QueryError>;
    /// The account with that e-mail, lower case.
    async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, QueryError>;
    /// All accounts, newest first.
    async fn list_accounts(&self, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError>;
}

/// API keys.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait KeyQueries: Send + Sync {
    /// The key with that public part, and the account it belongs to.
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError>;
    /// The newest keys of the account, at most 200, newest first.
    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError>;
}

/// Balances.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait BalanceQueries: Send + Sync {
    /// All parts of the account's money at one instant.
    async fn balances(&self, account: AccountId) -> Result<Balances, QueryError>;
}

/// Callbacks from upstream.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait NoticeQueries: Send + Sync {
    /// Waiting notices that are due at `now` ([`crate::Due`] with [`cais_domain::pause::MAX_PAUSE`]), the longest overdue first.
    async fn list_due_notices(&self, now: Timestamp, limit: u32) -> Result<Vec<Notice>, QueryError>;
    /// The notice of that id, in whatever state.
    async fn find_notice(&self, id: NoticeId) -> Result<Option<Notice>, QueryError>;
    /// Returns a waiting or unmatched notice of the acquirer with exactly these names; any of several.
    async fn find_named_notice(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Notice>, QueryError>;
    /// Unmatched notices, newest first.
    async fn list_unmatched_notices(&self, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError>;
    /// Counts the waiting and the unmatched notices of each acquirer.
    async fn count_notices(&self) -> Result<NoticeCounts, QueryError>;
}

/// The whole read side.
pub trait Queries:
    ChargeQueries
    + ReservationQueries
    + ClaimQueries
    + AccountQueries
    + KeyQueries
    + BalanceQueries
    + NoticeQueries
    + PayoutQueries
    + RefundQueries
    + ReleaseQueries
    + StatementQueries
    + TimelineQueries
    + ReconciliationQueries
    + EndpointQueries
    + EventQueries
    + DeliveryQueries
    + InfractionQueries
    + PositionQueries
    + AuditQueries
{
}

impl<T> Queries for T where
    T: ChargeQueries
        + ReservationQueries
        + ClaimQueries
        + AccountQueries
        + KeyQueries
        + BalanceQueries
        + NoticeQueries
        + PayoutQueries
        + RefundQueries
        + ReleaseQueries
        + StatementQueries
        + TimelineQueries
        + ReconciliationQueries
        + EndpointQueries
        + EventQueries
        + DeliveryQueries
        + InfractionQueries
        + PositionQueries
        + AuditQueries
{
}

//! The read side: the data that use cases read before a decision. A read sees every commit whose call returned before
//! the read started.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, CallbackId, ChargeId};
use cais_domain::ledger::SystemAccount;
use cais_domain::merchant::account::{Account, Kyc};
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use jiff::Timestamp;

use crate::acquirer_drain::DrainQueries;
use crate::audit::AuditQueries;
use crate::callback::{Callback, CallbackCounts};
use crate::change_set::ReservationKey;
use crate::crypto_queries::{CryptoDepositQueries, CryptoQuoteQueries, CryptoWithdrawalQueries};
use crate::events::{DeliveryQueries, EndpointQueries, EventQueries};
use crate::idempotency::{IdempotencyRecord, IdempotencyRef};
use crate::infractions::InfractionQueries;
use crate::keys::ApiKeyRecord;
use crate::login::LoginQueries;
use crate::money_out::{PayoutQueries, RefundQueries, ReleaseQueries};
use crate::page::{Page, PageRequest};
use crate::position::PositionQueries;
use crate::record::{RecordKey, RecordQueries};
use crate::statement::{ReconciliationQueries, StatementQueries, TimelineQueries};
use crate::usage::UsageQueries;

/// The reason why a read failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The store cannot be reached, or did not answer within its time limit.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A row has a form that the service never writes.
    #[error("the store has an invalid row: {0}")]
    Corrupt(String),
}

/// The balances of a merchant's four buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balances {
    /// Usable now.
    pub available: Money,
    /// Received, but not released yet.
    pub pending: Money,
    /// Blocked by infractions.
    pub blocked: Money,
    /// Held for open payouts, refunds and crypto withdrawals.
    pub in_transit: Money,
}

/// Charges.
#[async_trait]
pub trait ChargeQueries: Send + Sync {
    /// Returns a charge of the account, in any state.
    async fn find_charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError>;
    /// Returns the charge with this txid, in any state.
    async fn find_charge_by_txid(&self, txid: &Txid) -> Result<Option<Charge>, QueryError>;
    /// Returns the account's credited payment with this end-to-end id.
    async fn find_payment(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Option<CreditedPayment>, QueryError>;
    /// Lists the account's visible charges ([`Charge::is_visible`]). The newest come first.
    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError>;
    /// Lists the account's visible charges with this payer document. The text must be spelled as in the charge's
    /// request. The newest come first.
    async fn list_charges_of_payer(
        &self,
        account: AccountId,
        payer_document: &str,
        limit: u32,
    ) -> Result<Vec<Charge>, QueryError>;
    /// Lists pending charges, of all accounts, that expired before `before`. The longest overdue come first.
    async fn list_overdue_charges(&self, before: Timestamp, limit: u32) -> Result<Vec<Charge>, QueryError>;
}

/// Unique values and their owners.
#[async_trait]
pub trait ReservationQueries: Send + Sync {
    /// Returns the public id of the value's owner. Returns `None` if the value has no owner.
    async fn find_owner(&self, key: &ReservationKey) -> Result<Option<String>, QueryError>;
}

/// Idempotency records.
#[async_trait]
pub trait IdempotencyQueries: Send + Sync {
    /// Returns the record of a key.
    async fn find_idempotency_record(&self, name: &IdempotencyRef) -> Result<Option<IdempotencyRecord>, QueryError>;
    /// Lists records that a worker must resume: they have no response, are due at `now`, and their lease has ended. The
    /// longest overdue come first. [`crate::Due`] judges both instants. Its longest pause is
    /// [`cais_domain::pause::MAX_PAUSE`] for the due instant, and [`crate::REQUEST_LEASE`] for the end of the lease.
    async fn list_due_idempotency_records(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<IdempotencyRecord>, QueryError>;
}

/// Accounts.
#[async_trait]
pub trait AccountQueries: Send + Sync {
    /// Returns the account.
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>, QueryError>;
    /// Returns the account with this e-mail. `email` must be in lower case.
    async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, QueryError>;
    /// Lists the accounts with this KYC state, or all accounts if `kyc` is `None`. The newest come first.
    async fn list_accounts(&self, kyc: Option<Kyc>, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError>;
}

/// API keys.
#[async_trait]
pub trait KeyQueries: Send + Sync {
    /// Returns the key with this public part, and the account of the key.
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError>;
    /// Lists the account's keys, at most the newest 200. The newest come first.
    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError>;
}

/// Balances.
#[async_trait]
pub trait BalanceQueries: Send + Sync {
    /// Returns all parts of the account's balance at one instant.
    async fn balances(&self, account: AccountId) -> Result<Balances, QueryError>;
    /// Returns the balance of a system account: the sum of its rows.
    async fn system_balance(&self, account: &SystemAccount) -> Result<Money, QueryError>;
}

/// Callbacks from acquirers and the crypto processor.
#[async_trait]
pub trait CallbackQueries: RecordQueries {
    /// Lists waiting callbacks whose next read is due at `now`, according to [`crate::Due`] with
    /// [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_callbacks(&self, now: Timestamp, limit: u32) -> Result<Vec<Callback>, QueryError>;
    /// Returns a callback by id, in any state.
    async fn find_callback(&self, id: CallbackId) -> Result<Option<Callback>, QueryError> {
        self.find_record(RecordKey::Callback { id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns a waiting or unmatched callback of the acquirer whose identifiers ([`Callback::body`]) equal `names`. If
    /// there are several, returns any of them.
    async fn find_named_callback(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Callback>, QueryError>;
    /// Lists unmatched callbacks. The newest come first.
    async fn list_unmatched_callbacks(&self, page: PageRequest<CallbackId>) -> Result<Page<Callback>, QueryError>;
    /// Counts the waiting and the unmatched callbacks of each acquirer.
    async fn count_callbacks(&self) -> Result<CallbackCounts, QueryError>;
}

/// Defines [`Queries`] as the sum of these traits.
macro_rules! queries {
    ($($part:ident)+) => {
        /// The whole read side.
        pub trait Queries: $($part +)+ {}

        impl<T: $($part +)+> Queries for T {}
    };
}
queries! {
    RecordQueries ChargeQueries ReservationQueries IdempotencyQueries AccountQueries KeyQueries BalanceQueries CallbackQueries
    PayoutQueries RefundQueries ReleaseQueries StatementQueries TimelineQueries ReconciliationQueries EndpointQueries
    EventQueries DeliveryQueries InfractionQueries PositionQueries DrainQueries AuditQueries CryptoQuoteQueries
    CryptoDepositQueries CryptoWithdrawalQueries LoginQueries UsageQueries
}

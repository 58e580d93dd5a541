//! Queries of the statement and of the timeline (charges, payouts and split credits), and queries for the
//! reconciliation.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{ProcessorId, Withdrawal};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, CryptoWithdrawalId, EntryId, PayoutId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::timeline::{Direction, TransactionStatus};
use jiff::Timestamp;
use uuid::Uuid;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// A period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first instant of the period. `None` if the period has no start.
    pub from: Option<Timestamp>,
    /// The first instant after the period. `None` if the period has no end.
    pub until: Option<Timestamp>,
}

impl Span {
    /// Returns whether the instant is in the period.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until)
    }
}

/// The filter of a statement. `None` accepts every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// The bucket. Statements do not contain `in_transit`.
    pub bucket: Option<Bucket>,
    /// The reason of the movement.
    pub kind: Option<EntryKind>,
    /// The period of creation.
    pub created: Span,
}

/// A line of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementEntry {
    /// The public identifier.
    pub id: EntryId,
    /// The reason of the movement.
    pub kind: EntryKind,
    /// The bucket: `available`, `pending` or `blocked`.
    pub bucket: Bucket,
    /// The amount: positive for credits, negative for debits.
    pub amount: Money,
    /// The balance of the bucket after the entry.
    pub balance_after: Money,
    /// The public id of the charge, payout or other resource. `None` for a split credit.
    pub resource: Option<String>,
    /// The Pix to which the entry belongs, if any.
    pub end_to_end_id: Option<EndToEndId>,
    /// The description of the charge or payout, or the reason of the refund.
    pub description: Option<String>,
    /// The instant of the entry.
    pub created_at: Timestamp,
}

/// Returns whether entries of this kind only move money between the buckets of one account.
#[must_use]
pub const fn is_internal(kind: EntryKind) -> bool {
    match kind {
        EntryKind::Release | EntryKind::Infraction | EntryKind::InfractionReleased => true,
        EntryKind::Charge
        | EntryKind::ExtraPayment
        | EntryKind::Fee
        | EntryKind::Split
        | EntryKind::Payout
        | EntryKind::PayoutFailed
        | EntryKind::PayoutReversed
        | EntryKind::Refund
        | EntryKind::RefundFailed
        | EntryKind::InfractionReturned
        | EntryKind::CryptoDeposit
        | EntryKind::CryptoWithdrawal
        | EntryKind::CryptoWithdrawalFailed => false,
    }
}

/// The money that entered and left an account's balance in one hour. Entries that only move money between buckets do
/// not count ([`is_internal`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourSum {
    /// The number of whole hours since 1970, in UTC.
    pub hour: i64,
    /// The sum of the credits.
    pub incoming: Money,
    /// The sum of the debits, as a positive amount.
    pub outgoing: Money,
}

/// The sums of a limited number of entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntrySums {
    /// The sums of the hours that have entries, in ascending order.
    pub hours: Vec<HourSum>,
    /// The id of the last entry that was read. `None` if no entry was read.
    pub last: Option<EntryId>,
    /// The number of entries that were read, including those that the sums leave out.
    pub entries: u32,
}

/// The filter of a timeline. `None` accepts every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransactionFilter {
    /// The direction of the money.
    pub direction: Option<Direction>,
    /// The status.
    pub status: Option<TransactionStatus>,
    /// The period of creation.
    pub created: Span,
}

/// A share in another account's charge, as its recipient sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitCredit {
    /// The id of the entry that credited the share. The transaction's id differs only in its prefix.
    pub id: EntryId,
    /// The credited amount.
    pub amount: Money,
    /// The instant of the credit.
    pub created_at: Timestamp,
}

/// A transaction of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transaction {
    /// A visible charge.
    Charge(Box<Charge>),
    /// A visible payout.
    Payout(Box<Payout>),
    /// A share in another account's charge.
    SplitCredit(SplitCredit),
}

impl Transaction {
    /// Returns the sort key in the timeline: the id without its prefix.
    #[must_use]
    pub fn key(&self) -> Uuid {
        match self {
            Self::Charge(charge) => charge.id.uuid(),
            Self::Payout(payout) => payout.id.uuid(),
            Self::SplitCredit(credit) => credit.id.uuid(),
        }
    }

    /// Returns the direction of the money.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match self {
            Self::Charge(_) | Self::SplitCredit(_) => Direction::CashIn,
            Self::Payout(_) => Direction::CashOut,
        }
    }
}

/// The statement.
#[async_trait]
pub trait StatementQueries: Send + Sync {
    /// Lists the account's entries in `available`, `pending` and `blocked`. The newest come first.
    async fn list_entries(
        &self,
        account: AccountId,
        filter: EntryFilter,
        page: PageRequest<EntryId>,
    ) -> Result<Page<StatementEntry>, QueryError>;
    /// Returns whether the account's statement has the entry.
    async fn has_entry(&self, account: AccountId, id: EntryId) -> Result<bool, QueryError>;
    /// Sums at most `limit` entries of the account in the order of their ids. The ids are greater than `after` and less
    /// than `below`.
    async fn sum_entries(
        &self,
        account: AccountId,
        after: EntryId,
        below: EntryId,
        limit: u32,
    ) -> Result<EntrySums, QueryError>;
}

/// The timeline.
#[async_trait]
pub trait TimelineQueries: Send + Sync {
    /// Lists the visible transactions of the account, sorted by [`Transaction::key`]. The newest come first.
    async fn list_transactions(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Transaction>, QueryError>;
    /// Returns the visible transaction with this key and direction.
    async fn find_transaction(
        &self,
        account: AccountId,
        direction: Direction,
        key: Uuid,
    ) -> Result<Option<Transaction>, QueryError>;
}

/// Data for the comparison with acquirers' lists, over all accounts.
#[async_trait]
pub trait ReconciliationQueries: Send + Sync {
    /// Lists payments that the acquirer received in the period, in the order of instant and end-to-end id. The list
    /// starts after the payment `after`, if it is given.
    async fn list_payments_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, EndToEndId)>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError>;
    /// Lists payouts of the acquirer that were requested in the period, in any state and in the order of their ids. The
    /// list starts after the payout `after`, if it is given.
    async fn list_payouts_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError>;
    /// Lists payments at the processor whose first coins arrived in the period, in the order of this instant and the
    /// identifier. The list starts after the payment `after`, if it is given.
    async fn list_crypto_payments_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, ProcessorId)>,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError>;
    /// Lists crypto withdrawals of the processor that were requested in the period, in any state and in the order of
    /// their ids. The list starts after the withdrawal `after`, if it is given.
    async fn list_crypto_withdrawals_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<CryptoWithdrawalId>,
        limit: u32,
    ) -> Result<Vec<Withdrawal>, QueryError>;
    /// Lists the acquirers that had a payment or payout in the period, and the crypto processors that had a payment or
    /// withdrawal. The list is sorted by name.
    async fn find_acquirers(&self, from: Timestamp, until: Timestamp) -> Result<Vec<AcquirerName>, QueryError>;
}

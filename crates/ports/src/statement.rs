//! Reading what happened to an account's money: the statement, and the timeline of charges, payouts and split credits.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, EntryId, PayoutId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::timeline::{Direction, TransactionStatus};
use jiff::Timestamp;
use uuid::Uuid;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// A span of time: from an instant on, and before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first instant that belongs to it; `None` is the beginning of time.
    pub from: Option<Timestamp>,
    /// The first instant that does not belong to it any more; `None` is its end.
    pub until: Option<Timestamp>,
}

impl Span {
    /// Whether the instant belongs to it.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until)
    }
}

/// Which entries of a statement are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// Of one bucket; what is in transit is in no statement.
    pub bucket: Option<Bucket>,
    /// Of one kind.
    pub kind: Option<EntryKind>,
    /// Of a span of time.
    pub created: Span,
}

/// A line of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementEntry {
    /// Its identifier.
    pub id: EntryId,
    /// Why money moved.
    pub kind: EntryKind,
    /// Which part of the money: available, pending or blocked.
    pub bucket: Bucket,
    /// How much came (positive) or went (negative).
    pub amount: Money,
    /// What was in the bucket then.
    pub balance_after: Money,
    /// The public id of the charge, payout or refund; `None` for a split credit.
    pub resource: Option<String>,
    /// The Pix.
    pub end_to_end_id: Option<EndToEndId>,
    /// The description of that charge or payout, or the reason of that refund.
    pub description: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

/// Which transactions of a timeline are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransactionFilter {
    /// In one direction.
    pub direction: Option<Direction>,
    /// In one status.
    pub status: Option<TransactionStatus>,
    /// Of a span of time.
    pub created: Span,
}

/// A share in another account's charge, as its beneficiary sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitCredit {
    /// The entry that credited it; the transaction has the same suffix.
    pub id: EntryId,
    /// How much.
    pub amount: Money,
    /// When.
    pub created_at: Timestamp,
}

/// What a transaction of the timeline is made of.
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
    /// What the timeline is ordered by: the id without its prefix.
    #[must_use]
    pub fn key(&self) -> Uuid {
        match self {
            Self::Charge(charge) => charge.id.uuid(),
            Self::Payout(payout) => payout.id.uuid(),
            Self::SplitCredit(credit) => credit.id.uuid(),
        }
    }
}

/// The statement.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait StatementQueries: Send + Sync {
    /// The entries of the account on available, pending and blocked, newest first.
    async fn list_entries(
        &self,
        account: AccountId,
        filter: EntryFilter,
        page: PageRequest<EntryId>,
    ) -> Result<Page<StatementEntry>, QueryError>;
    /// Whether the account's statement has that entry.
    async fn has_entry(&self, account: AccountId, id: EntryId) -> Result<bool, QueryError>;
}

/// The timeline.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait TimelineQueries: Send + Sync {
    /// The visible transactions of the account, newest first: by [`Transaction::key`].
    async fn list_transactions(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Transaction>, QueryError>;
    /// The visible transaction of that key in that direction.
    async fn find_transaction(
        &self,
        account: AccountId,
        direction: Direction,
        key: Uuid,
    ) -> Result<Option<Transaction>, QueryError>;
}

/// What reconciliation compares with the acquirers' lists, over all accounts.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReconciliationQueries: Send + Sync {
    /// Payments that the acquirer received in that span, in the order of their instants, at one instant in that of their end-to-end
    /// ids, after the given place.
    async fn list_payments_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, EndToEndId)>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError>;
    /// Payouts of the acquirer in whatever state that were asked for in that span, in the order of their ids, after the given one.
    async fn list_payouts_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError>;
    /// Every acquirer of a payment or payout of that span, in order.
    async fn find_acquirers(&self, from: Timestamp, until: Timestamp) -> Result<Vec<AcquirerName>, QueryError>;
}

//! Queries of payouts, refunds and releases.

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// The count and age of open payouts, or of open refunds, over all accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenMoney {
    /// The number of payouts or refunds. The count stops at [`OpenMoney::MOST`].
    pub count: u64,
    /// The creation time of the oldest one counted. `None` if the count is 0.
    pub oldest: Option<Timestamp>,
}

impl OpenMoney {
    /// The limit of the count, which keeps counting cheap. A higher number would not change what an operator does.
    pub const MOST: u32 = 100_000;
}

/// Reads of payouts, by callers and by workers.
#[async_trait]
pub trait PayoutQueries: Send + Sync {
    /// Returns a payout of the account, in any state.
    async fn find_payout(&self, account: AccountId, id: PayoutId) -> Result<Option<Payout>, QueryError>;
    /// Returns the payout with this instruction id, in any state.
    async fn find_payout_by_instruction_id(&self, instruction_id: &InstructionId)
    -> Result<Option<Payout>, QueryError>;
    /// Returns the payout of any account whose Pix has this end-to-end id.
    async fn find_payout_by_pix(&self, end_to_end_id: &EndToEndId) -> Result<Option<Payout>, QueryError>;
    /// Lists the account's visible payouts ([`Payout::is_visible`]). The newest come first.
    async fn list_payouts(&self, account: AccountId, page: PageRequest<PayoutId>) -> Result<Page<Payout>, QueryError>;
    /// Lists payouts, of all accounts, whose next poll is due at `now`, according to [`crate::Due`] with
    /// [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Payout>, QueryError>;
    /// Counts the payouts that are `processing`.
    async fn count_open_payouts(&self) -> Result<OpenMoney, QueryError>;
}

/// Reads of refunds, by callers and by workers.
#[async_trait]
pub trait RefundQueries: RecordQueries {
    /// Returns a refund of the account, in any state.
    async fn find_refund(&self, account: AccountId, id: RefundId) -> Result<Option<Refund>, QueryError> {
        self.find_record(RecordKey::Refund { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Lists the charge's visible refunds ([`Refund::is_visible`]). The newest come first.
    async fn list_refunds(
        &self,
        account: AccountId,
        charge: ChargeId,
        page: PageRequest<RefundId>,
    ) -> Result<Page<Refund>, QueryError>;
    /// Lists refunds, of all accounts, whose next poll is due at `now`, according to [`crate::Due`] with
    /// [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_refunds(&self, now: Timestamp, limit: u32) -> Result<Vec<Refund>, QueryError>;
    /// Counts the refunds that are `processing`.
    async fn count_open_refunds(&self) -> Result<OpenMoney, QueryError>;
}

/// The worker's reads of releases.
#[async_trait]
pub trait ReleaseQueries: Send + Sync {
    /// Lists releases, of all accounts, that are due at `now` and not made yet. The longest overdue come first.
    async fn list_due_releases(&self, now: Timestamp, limit: u32) -> Result<Vec<Release>, QueryError>;
}

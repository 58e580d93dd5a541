//! Acquirers: the institutions that take Pix charges for us, hold what was paid, and send it on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::document::Document;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::Recipient;
use cais_domain::pix_key::PixKey;
use cais_domain::txid::Txid;
use jiff::{SignedDuration, Timestamp};

use crate::noticed::Noticed;
use crate::upstream_infraction::{DefenseOrder, DefenseReceipt, UpstreamInfraction};

/// Why an acquirer did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcquirerError {
    /// It refused, for good: asking again changes nothing.
    #[error("refused: {0}")]
    Refused(String),
    /// It certainly did not do it, and may later: no connection, overload, a refusal of ours or its credentials.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// It may have done it: the reply was lost, late or unreadable. Never asked elsewhere, never called a failure.
    #[error("outcome unknown: {0}")]
    OutcomeUnknown(String),
}

/// A charge as an acquirer is asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeOrder {
    /// Its name upstream; a repeat with the same name never makes a second one.
    pub txid: Txid,
    /// What the payer is to pay.
    pub amount: Money,
    /// Seconds from its creation until it can no longer be paid.
    pub expires_in_s: u32,
    /// Who is to pay, when both halves are known.
    pub payer: Option<(Document, String)>,
    /// Shown to the payer; at most 140 characters.
    pub description: Option<String>,
}

/// Where a charge stands upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamStatus {
    /// It can be paid, unless its time is over.
    Active,
    /// It was paid.
    Completed,
    /// It was withdrawn, by us or by the acquirer.
    Removed,
}

/// A Pix that the acquirer received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayment {
    /// Names the Pix.
    pub end_to_end_id: EndToEndId,
    /// What the payer sent.
    pub amount: Money,
    /// When it was received.
    pub paid_at: Timestamp,
    /// What goes back to the payer or went back, whoever asked for it.
    pub returns: Vec<UpstreamReturn>,
}

/// How far something that goes out has come upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamProgress {
    /// Its outcome is open.
    Processing,
    /// It arrived.
    Done {
        /// When, if the acquirer says.
        at: Option<Timestamp>,
    },
    /// It will never arrive.
    Failed {
        /// Why, in the acquirer's words.
        reason: Option<String>,
    },
}

/// Why a received Pix goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnNature {
    /// Its receiver asked for it.
    Ordinary,
    /// An infraction was lost (`MED_FRAUDE`, `MED_OPERACIONAL` and the like): the acquirer took it by itself.
    Infraction,
}

/// The return of a received Pix (devolução), as the acquirer knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamReturn {
    /// The name under which it was asked for; a refund of ours when it is one's id without its prefix.
    pub name: String,
    /// Names the return in the whole country, once there is one.
    pub return_id: Option<ReturnId>,
    /// Why.
    pub nature: ReturnNature,
    /// How much goes back.
    pub amount: Money,
    /// How far it has come.
    pub progress: UpstreamProgress,
}

impl UpstreamReturn {
    /// The refund of ours that may have been asked for under this name.
    #[must_use]
    pub fn refund(&self) -> Option<RefundId> {
        RefundId::from_suffix(&self.name).ok()
    }
}

/// A refund as an acquirer is asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundOrder {
    /// Without its prefix, its name upstream; a repeat with the same name never makes a second one.
    pub id: RefundId,
    /// The Pix that goes back.
    pub end_to_end_id: EndToEndId,
    /// How much of it.
    pub amount: Money,
    /// Shown to the payer; at most 140 characters.
    pub description: Option<String>,
}

/// A payout as an acquirer is asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutOrder {
    /// Its name upstream; a repeat with the same name never makes a second one.
    pub instruction_id: InstructionId,
    /// What the recipient is to get.
    pub amount: Money,
    /// Where it goes.
    pub pix_key: PixKey,
    /// Who must own the key, if that is to be checked.
    pub recipient_document: Option<Document>,
    /// Shown to the recipient; at most 140 characters.
    pub description: Option<String>,
}

/// What came back of a Pix that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedPart {
    /// Names the return; each is credited once.
    pub return_id: ReturnId,
    /// How much came back.
    pub amount: Money,
    /// When.
    pub at: Timestamp,
}

/// A Pix that was sent, as the acquirer knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayout {
    /// Its name.
    pub instruction_id: InstructionId,
    /// The Pix, once it is named.
    pub end_to_end_id: Option<EndToEndId>,
    /// What the recipient gets.
    pub amount: Money,
    /// Who gets it, as far as the acquirer tells.
    pub recipient: Recipient,
    /// How far it has come.
    pub progress: UpstreamProgress,
    /// What came back, oldest first.
    pub returned: Vec<ReturnedPart>,
}

/// A Pix that was received, as the acquirer lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedPix {
    /// The charge that it was for; `None` for a Pix without one, or whose txid cannot be one of ours.
    pub txid: Option<Txid>,
    /// The Pix.
    pub payment: UpstreamPayment,
}

/// One page of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPage<T> {
    /// The rows, in the acquirer's order.
    pub rows: Vec<T>,
    /// Rows that cannot be read. Absence from `rows` proves nothing while there is one.
    pub unreadable: Vec<UnreadableRow>,
    /// The number of the page after this one; `None` after the last.
    pub next: Option<u32>,
    /// The number of pages of the list, if the acquirer reports it. The list may grow or shrink between two pages.
    pub pages: Option<u32>,
}

impl<T> UpstreamPage<T> {
    /// A page of which each row could be read.
    #[must_use]
    pub const fn new(rows: Vec<T>, next: Option<u32>) -> Self {
        Self { rows, unreadable: Vec::new(), next, pages: None }
    }
}

/// A row of an acquirer's list that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnreadableRow {
    /// Its name at the acquirer where the row shows one: an id of an infraction, an instruction id, an end-to-end id or a txid. Otherwise its
    /// place in the answer.
    pub name: String,
    /// The field that cannot be read, and why.
    pub reason: String,
}

/// Which page of an acquirer's list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRequest {
    /// From when on.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// Which page; the first is 0.
    pub page: u32,
}

/// A charge as the acquirer knows it. Adapters check txid, key and code before they return one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamCharge {
    /// Its name.
    pub txid: Txid,
    /// What the payer is to pay.
    pub amount: Money,
    /// Where it stands.
    pub status: UpstreamStatus,
    /// The Pix copy-and-paste code; an acquirer may leave it out of later reads.
    pub copy_paste: Option<String>,
    /// When it can no longer be paid.
    pub expires_at: Timestamp,
    /// Every Pix that it received, oldest first.
    pub payments: Vec<UpstreamPayment>,
    /// The acquirer's own clock when it answered, cut to the second; `None` where the answer shows none.
    pub answered_at: Option<Timestamp>,
}

impl UpstreamCharge {
    /// Whether the acquirer's own clock has reached that instant, as far as the answer shows its clock.
    #[must_use]
    pub fn has_reached(&self, at: Timestamp) -> bool {
        const CUT: SignedDuration = SignedDuration::from_secs(1);
        self.answered_at.is_none_or(|answered_at| at.duration_since(answered_at) < CUT)
    }
}

/// One acquirer.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirer: Send + Sync {
    /// Its configured name.
    fn name(&self) -> &AcquirerName;

    /// Makes the charge, or finds it when it was made before by the same txid. The code is always there.
    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Reads a charge with its payments; `None` when the acquirer certainly does not know it.
    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError>;

    /// Withdraws a charge. One that was paid or withdrawn before is returned as it stands.
    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Whether it can send Pix at all; one that cannot refuses every payout.
    fn sends_payouts(&self) -> bool;

    /// Sends the Pix, or finds it when it was sent before under the same name.
    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError>;

    /// Reads a Pix that was sent; `None` when the acquirer does not know the name. It may learn of it later: the request
    /// may still be on its way.
    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError>;

    /// Returns a received Pix, or finds the return when it was asked for before under the same name.
    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError>;

    /// Reads a return; `None` when the acquirer does not know the name, as for payouts.
    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError>;

    /// What was received in a span of time.
    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError>;

    /// What was sent in a span of time; empty for one that cannot send.
    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError>;

    /// The Pix of that end-to-end id as it was received; `None` when the acquirer certainly does not know it.
    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError>;

    /// Whether it tells of infractions at all; one that does not has an empty list and refuses every defence.
    fn tells_infractions(&self) -> bool;

    /// Infractions that were opened in a span of time.
    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError>;

    /// Hands over a defence. The acquirer takes one for each infraction, so a repeat has no second effect.
    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError>;

    /// What a callback's body names, as far as it may be ours; empty when it names nothing.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] when the body cannot be read.
    fn notices(&self, body: &[u8]) -> Result<Vec<Noticed>, AcquirerError>;

    /// Asks the acquirer to call `url` back; repeatable.
    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError>;
}

/// Why no acquirer issued a charge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// Every one certainly did not: each refused, was down, or is not being asked just now.
    #[error("no acquirer took the charge")]
    NoneTook {
        /// Who was asked last, and why not; empty when all are being left alone.
        reasons: Vec<(AcquirerName, AcquirerError)>,
    },
    /// One may have: only that one may be asked again.
    #[error("the outcome at {acquirer} is unknown: {reason}")]
    Unknown {
        /// Which.
        acquirer: AcquirerName,
        /// Why.
        reason: String,
    },
}

/// All configured acquirers, with the knowledge of who answers just now.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirers: Send + Sync {
    /// The acquirer that a new charge would be sent to first; `None` when all are being left alone.
    fn first(&self) -> Option<AcquirerName>;

    /// The acquirer that a new payout would be sent through; `None` when all that can send are being left alone.
    fn first_sender(&self) -> Option<AcquirerName>;

    /// Every configured acquirer, in their order.
    fn names(&self) -> Vec<AcquirerName>;

    /// Makes the charge at the first that takes it, beginning with `begin_with`; goes on to the next only after certain failures.
    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError>;

    /// The acquirer of that name, guarded by its breaker.
    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>>;
}

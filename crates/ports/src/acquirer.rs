//! Acquirers: the institutions that issue Pix charges, hold our balance, and send Pix.

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

use crate::callback_item::{CallbackItem, CallbackSignatures};
use crate::upstream_infraction::{DefenseOrder, DefenseReceipt, UpstreamInfraction};

/// The reason an acquirer did not fulfill a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcquirerError {
    /// The acquirer refused for good. A retry has the same result.
    #[error("refused: {0}")]
    Refused(String),
    /// The acquirer certainly did not fulfill the request and may later: no connection, overload, or rejected
    /// credentials.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The acquirer may have fulfilled the request: the reply was lost, late or unreadable. The request never goes to
    /// another acquirer and never counts as failed.
    #[error("outcome unknown: {0}")]
    OutcomeUnknown(String),
}

/// The order of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeOrder {
    /// The identifier at the acquirer. A repeat with the same txid never creates a second charge.
    pub txid: Txid,
    /// The amount for the payer.
    pub amount: Money,
    /// Seconds from creation to expiry.
    pub expires_in_s: u32,
    /// The payer, if document and name are known.
    pub payer: Option<(Document, String)>,
    /// Free text for the payer, at most 140 characters.
    pub description: Option<String>,
}

/// The status of a charge upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamStatus {
    /// The charge can be paid, unless expired.
    Active,
    /// The charge was paid.
    Completed,
    /// The charge was cancelled, by us or by the acquirer.
    Removed,
}

/// A received Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayment {
    /// The end-to-end id of the Pix.
    pub end_to_end_id: EndToEndId,
    /// The amount sent by the payer.
    pub amount: Money,
    /// The instant of receipt.
    pub paid_at: Timestamp,
    /// All returns of the Pix, in flight or done, also those that other systems requested.
    pub returns: Vec<UpstreamReturn>,
}

/// The progress of an outgoing movement upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamProgress {
    /// The outcome is unknown.
    Processing,
    /// The money arrived.
    Done {
        /// The instant, if reported.
        at: Option<Timestamp>,
    },
    /// The money will never arrive.
    Failed {
        /// The acquirer's reason.
        reason: Option<String>,
    },
}

/// The nature of a return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnNature {
    /// The receiver requested the return.
    Ordinary,
    /// A lost infraction (`MED_FRAUDE`, `MED_OPERACIONAL` and similar): the acquirer debited the money itself.
    Infraction,
}

/// The return of a received Pix (devolução) in the acquirer's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamReturn {
    /// The identifier of the request. For a refund of ours: its id without its prefix.
    pub name: String,
    /// The nationwide identifier of the return, once known.
    pub return_id: Option<ReturnId>,
    /// The nature of the return.
    pub nature: ReturnNature,
    /// The returned amount.
    pub amount: Money,
    /// The progress.
    pub progress: UpstreamProgress,
}

impl UpstreamReturn {
    /// Returns our refund that may have this identifier.
    #[must_use]
    pub fn refund(&self) -> Option<RefundId> {
        RefundId::from_suffix(&self.name).ok()
    }
}

/// The order of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundOrder {
    /// The refund's id. Without its prefix, also the identifier at the acquirer. A repeat never creates a second
    /// return.
    pub id: RefundId,
    /// The refunded Pix.
    pub end_to_end_id: EndToEndId,
    /// The refunded amount.
    pub amount: Money,
    /// Free text for the payer, at most 140 characters.
    pub description: Option<String>,
}

/// The order of a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutOrder {
    /// The identifier at the acquirer. A repeat never sends a second Pix.
    pub instruction_id: InstructionId,
    /// The amount for the recipient.
    pub amount: Money,
    /// The recipient's key.
    pub pix_key: PixKey,
    /// The required owner of the key, if the request names one.
    pub recipient_document: Option<Document>,
    /// Free text for the recipient, at most 140 characters.
    pub description: Option<String>,
}

/// A returned part of a sent Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedPart {
    /// The identifier of the return. Each return is credited once.
    pub return_id: ReturnId,
    /// The returned amount.
    pub amount: Money,
    /// The instant of the return.
    pub at: Timestamp,
}

/// A sent Pix in the acquirer's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayout {
    /// The identifier at the acquirer.
    pub instruction_id: InstructionId,
    /// The end-to-end id, once known.
    pub end_to_end_id: Option<EndToEndId>,
    /// The amount for the recipient.
    pub amount: Money,
    /// The recipient, as far as reported.
    pub recipient: Recipient,
    /// The progress.
    pub progress: UpstreamProgress,
    /// True if the payout waits for an approval. A repeat of the order gives the approval. No money has moved, and
    /// `progress` is `Processing`.
    pub awaits_approval: bool,
    /// The returns, oldest first.
    pub returned: Vec<ReturnedPart>,
}

/// A received Pix in the acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedPix {
    /// The txid of the charge; `None` for a Pix without a txid, or with a txid that cannot be ours.
    pub txid: Option<Txid>,
    /// The Pix.
    pub payment: UpstreamPayment,
}

/// A page of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPage<T> {
    /// The rows, in the acquirer's order.
    pub rows: Vec<T>,
    /// Unreadable rows. While one exists, a row missing from `rows` proves nothing.
    pub unreadable: Vec<UnreadableRow>,
    /// The number of the page after this one; `None` after the last.
    pub next: Option<u32>,
    /// The number of pages of the list, if the acquirer reports it. The list may grow or shrink between two pages.
    pub pages: Option<u32>,
}

impl<T> UpstreamPage<T> {
    /// Creates a page without unreadable rows.
    #[must_use]
    pub const fn new(rows: Vec<T>, next: Option<u32>) -> Self {
        Self { rows, unreadable: Vec::new(), next, pages: None }
    }
}

/// An unreadable row of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnreadableRow {
    /// The identifier at the acquirer, if readable: an id of an infraction, an instruction id, an end-to-end id or a
    /// txid. Otherwise the row's position in the answer.
    pub name: String,
    /// The unreadable field and the reason.
    pub reason: String,
}

/// The request for a page of an acquirer's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRequest {
    /// The beginning of the period.
    pub from: Timestamp,
    /// The end of the period.
    pub to: Timestamp,
    /// The page, from 0.
    pub page: u32,
}

/// A charge in the acquirer's records. Adapters check txid, key and code before returning one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamCharge {
    /// The identifier at the acquirer.
    pub txid: Txid,
    /// The amount for the payer.
    pub amount: Money,
    /// The status.
    pub status: UpstreamStatus,
    /// The Pix copy-and-paste code. Later reads may omit it.
    pub copy_paste: Option<String>,
    /// The end of the payment period.
    pub expires_at: Timestamp,
    /// The received Pix, oldest first.
    pub payments: Vec<UpstreamPayment>,
    /// The acquirer's clock at the answer, truncated to the second; `None` if not shown.
    pub answered_at: Option<Timestamp>,
}

impl UpstreamCharge {
    /// Returns whether the acquirer's clock has reached an instant, as far as the answer shows the clock.
    #[must_use]
    pub fn has_reached(&self, at: Timestamp) -> bool {
        const CUT: SignedDuration = SignedDuration::from_secs(1);
        self.answered_at.is_none_or(|answered_at| at.duration_since(answered_at) < CUT)
    }
}

/// An acquirer.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirer: Send + Sync {
    /// Returns the configured name.
    fn name(&self) -> &AcquirerName;

    /// Creates the charge, or finds the existing charge with the same txid. The result always has a code.
    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Reads a charge with its payments; `None` if the acquirer certainly does not have it.
    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError>;

    /// Cancels a charge. A paid or cancelled charge is returned as it is.
    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Returns whether the acquirer can send Pix. Otherwise every payout is refused.
    fn sends_payouts(&self) -> bool;

    /// Sends the Pix, or finds the sent Pix with the same identifier. A payout that awaits its approval is approved.
    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError>;

    /// Reads a sent Pix; `None` if the acquirer does not have it. The request may still be in flight, so the Pix may
    /// appear later.
    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError>;

    /// Reads the return of a sent Pix by its own id; `None` if the acquirer does not show it, or shows returns only with
    /// their payout.
    async fn find_payout_return(
        &self,
        return_id: &ReturnId,
        budget: Duration,
    ) -> Result<Option<ReturnedPart>, AcquirerError>;

    /// Returns a received Pix, or finds the existing return with the same identifier.
    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError>;

    /// Reads a return; `None` if the acquirer does not have it. As for payouts, it may appear later.
    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError>;

    /// Lists Pix received in a period.
    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError>;

    /// Lists Pix sent in a period; empty for an acquirer that cannot send.
    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError>;

    /// Reads the received Pix with this end-to-end id; `None` if the acquirer certainly does not have it.
    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError>;

    /// Returns whether the acquirer reports infractions. Otherwise its list is empty and it refuses every defense.
    fn reports_infractions(&self) -> bool;

    /// Returns whether every list shows returns: of lost infractions with their received Pix, and of payouts with their
    /// sent Pix. Otherwise the reconciliation does not compare their amounts.
    fn lists_returns(&self) -> bool;

    /// Lists infractions opened in a period.
    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError>;

    /// Sends a defense. The acquirer accepts one per infraction, so a repeat has no second effect.
    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError>;

    /// Verifies the signature of a callback, if the acquirer signs its callbacks.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] for a missing or wrong signature.
    fn verify_callback(&self, body: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError>;

    /// Returns the resources in a callback's body that may be ours; empty if none.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] for an unreadable body.
    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError>;

    /// Registers `url` for callbacks; repeatable.
    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError>;
}

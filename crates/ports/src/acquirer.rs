//! Acquirers: the institutions that issue Pix charges, hold our money, and send Pix.

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

/// The reason why an acquirer did not execute a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcquirerError {
    /// The acquirer permanently refused the request. A retry has the same result.
    #[error("refused: {0}")]
    Refused(String),
    /// The acquirer certainly did not execute the request, but a later request may succeed. Causes are: no connection,
    /// overload, or refused credentials.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The acquirer may have executed the request: the reply was lost, late or unreadable. The request must not be sent
    /// to another acquirer, and must not count as failed.
    #[error("outcome unknown: {0}")]
    OutcomeUnknown(String),
}

/// A request to create a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeOrder {
    /// The identifier at the acquirer. A second request with the same txid never creates a second charge.
    pub txid: Txid,
    /// The amount that the payer must pay.
    pub amount: Money,
    /// Seconds from the creation of the charge to its expiry.
    pub expires_in_s: u32,
    /// The payer, if both the document and the name are known.
    pub payer: Option<(Document, String)>,
    /// Free text that the payer sees, at most 140 characters.
    pub description: Option<String>,
}

/// The status of a charge at its acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamStatus {
    /// The charge can be paid, if it has not expired.
    Active,
    /// The charge was paid.
    Completed,
    /// The charge was cancelled by this service or by the acquirer.
    Removed,
}

/// A received Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayment {
    /// The end-to-end id of the Pix.
    pub end_to_end_id: EndToEndId,
    /// The amount that the payer sent.
    pub amount: Money,
    /// The instant at which the acquirer received the Pix.
    pub paid_at: Timestamp,
    /// All returns of the Pix: in flight, completed and failed. Returns that other systems requested are included. In
    /// [`Acquirer::list_received`], returns may be missing; see [`Acquirer::lists_returns`].
    pub returns: Vec<UpstreamReturn>,
}

/// The progress of a payout or a return at the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamProgress {
    /// The payout or return is not finished, or its status is unknown.
    Processing,
    /// The money arrived at its recipient.
    Done {
        /// The instant of arrival, if the acquirer reports it.
        at: Option<Timestamp>,
    },
    /// The money will never arrive.
    Failed {
        /// The acquirer's reason.
        reason: Option<String>,
    },
}

/// The cause of a return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnNature {
    /// The receiver requested the return.
    Ordinary,
    /// The acquirer returned the money for a lost infraction (`MED_FRAUDE`, `MED_OPERACIONAL` and similar), without a
    /// request.
    Infraction,
}

/// The return of a received Pix (*devolução*), as the acquirer records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamReturn {
    /// The identifier at the acquirer. For a refund of this service, this is the refund's id without its prefix. It is
    /// empty if a return of another system has no identifier.
    pub name: String,
    /// The country-wide identifier of the return, after the acquirer has assigned it.
    pub return_id: Option<ReturnId>,
    /// The nature of the return.
    pub nature: ReturnNature,
    /// The returned amount.
    pub amount: Money,
    /// The progress at the acquirer.
    pub progress: UpstreamProgress,
}

impl UpstreamReturn {
    /// Returns the id of the refund of this service, if `name` has the form of such an id. A return of another system
    /// may have the same form, so the refund may not exist.
    #[must_use]
    pub fn refund(&self) -> Option<RefundId> {
        RefundId::from_suffix(&self.name).ok()
    }
}

/// A request to return a received Pix, or a part of it, to its payer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundOrder {
    /// The refund's id. The identifier at the acquirer is the same text without its prefix. A second request with the
    /// same id never creates a second return.
    pub id: RefundId,
    /// The refunded Pix.
    pub end_to_end_id: EndToEndId,
    /// The refunded amount.
    pub amount: Money,
    /// Free text that the payer sees, at most 140 characters.
    pub description: Option<String>,
}

/// A request to send a Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutOrder {
    /// The identifier at the acquirer. A second request with the same identifier never sends a second Pix.
    pub instruction_id: InstructionId,
    /// The amount that the recipient receives.
    pub amount: Money,
    /// The recipient's key.
    pub pix_key: PixKey,
    /// The document that the owner of the key must have, if the merchant's request contains one.
    pub recipient_document: Option<Document>,
    /// Free text that the recipient sees, at most 140 characters.
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

/// A sent Pix, as the acquirer records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPayout {
    /// The identifier at the acquirer.
    pub instruction_id: InstructionId,
    /// The end-to-end id, after the acquirer has assigned it.
    pub end_to_end_id: Option<EndToEndId>,
    /// The amount that the recipient receives.
    pub amount: Money,
    /// The recipient's data that the acquirer reports.
    pub recipient: Recipient,
    /// The progress at the acquirer.
    pub progress: UpstreamProgress,
    /// `true` if the payout waits for an approval at the acquirer. A further [`Acquirer::send_payout`] with the same
    /// identifier approves it. Until then no money has moved, and `progress` is `Processing`.
    pub awaits_approval: bool,
    /// The returns. The oldest comes first.
    pub returned: Vec<ReturnedPart>,
}

/// A received Pix in the acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedPix {
    /// The txid of the charge. `None` if the Pix has no txid, or a txid that this service cannot have created.
    pub txid: Option<Txid>,
    /// The Pix.
    pub payment: UpstreamPayment,
}

/// A page of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamPage<T> {
    /// The rows, in the acquirer's order.
    pub rows: Vec<T>,
    /// The rows that cannot be read. If there are any, a row that is missing in `rows` may still exist at the acquirer.
    pub unreadable: Vec<UnreadableRow>,
    /// The number of the next page. `None` after the last page.
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
    /// The identifier at the acquirer or processor, for example an end-to-end id. If the identifier cannot be read: the
    /// position of the row in the answer, for example `pix[3]`.
    pub name: String,
    /// The field that cannot be read, and the reason.
    pub reason: String,
}

/// The request for a page of an acquirer's list. The page may contain rows from outside of the period, because adapters
/// widen the period to whole seconds or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRequest {
    /// The start of the period.
    pub from: Timestamp,
    /// The end of the period.
    pub to: Timestamp,
    /// The number of the page, from 0.
    pub page: u32,
}

/// A charge, as the acquirer records it. The txid is always the requested one. Only [`Acquirer::create_charge`] also
/// compares the charge with its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamCharge {
    /// The identifier at the acquirer.
    pub txid: Txid,
    /// The amount that the payer must pay.
    pub amount: Money,
    /// The status.
    pub status: UpstreamStatus,
    /// The Pix copy-and-paste code, which may be absent in later reads.
    pub copy_paste: Option<String>,
    /// The end of the payment period.
    pub expires_at: Timestamp,
    /// The received Pix. The oldest comes first.
    pub payments: Vec<UpstreamPayment>,
    /// The acquirer's clock at the time of the answer, truncated to the second. `None` if the answer does not contain
    /// it.
    pub answered_at: Option<Timestamp>,
}

impl UpstreamCharge {
    /// Returns whether the acquirer's clock may have reached an instant. The clock may be almost a second ahead of
    /// `answered_at`, which is truncated to the second. Returns `true` if the answer does not contain the clock.
    #[must_use]
    pub fn has_reached(&self, at: Timestamp) -> bool {
        const TRUNCATION: SignedDuration = SignedDuration::from_secs(1);
        self.answered_at.is_none_or(|answered_at| at.duration_since(answered_at) < TRUNCATION)
    }
}

/// An acquirer. Each call ends within its `budget`.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirer: Send + Sync {
    /// Returns the configured name.
    fn name(&self) -> &AcquirerName;

    /// Creates the charge. If a charge with the same txid exists, returns that charge. The result always has a
    /// `copy_paste`.
    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Reads a charge with its payments. Returns `None` if the acquirer certainly does not have the charge.
    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError>;

    /// Cancels a charge. A paid charge is returned unchanged. A charge that is already cancelled is returned unchanged,
    /// or is `Refused` if the acquirer no longer shows it.
    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError>;

    /// Returns whether the acquirer can send Pix. If not, it refuses every payout.
    fn sends_payouts(&self) -> bool;

    /// Sends the Pix. If the acquirer has a Pix with the same identifier, returns that Pix. If that Pix waits for
    /// approval, this request approves it.
    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError>;

    /// Reads a sent Pix. Returns `None` if the acquirer does not have the Pix. This proves nothing: the order may still
    /// be in transit, and the Pix may appear later.
    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError>;

    /// Reads the return of a sent Pix by the id of the return. Returns `None` if the acquirer does not show the return,
    /// or shows returns only in the record of their payout.
    async fn find_payout_return(
        &self,
        return_id: &ReturnId,
        budget: Duration,
    ) -> Result<Option<ReturnedPart>, AcquirerError>;

    /// Returns a received Pix to its payer. If a return with the same identifier exists, returns the record of that
    /// return.
    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError>;

    /// Reads the return that the refund `id` requested. Returns `None` if the acquirer does not have the return. This
    /// proves nothing: the request may still be in transit, and the return may appear later.
    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError>;

    /// Lists the Pix that were received in a period.
    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError>;

    /// Lists the Pix that were sent in a period. The list is empty if the acquirer cannot send Pix.
    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError>;

    /// Lists the returns of sent Pix that were made in a period and that [`Acquirer::list_sent`] does not show. A row
    /// does not name its payout.
    async fn list_payout_returns(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReturnedPart>, AcquirerError>;

    /// Reads the received Pix with this end-to-end id. Returns `None` if the acquirer certainly does not have it.
    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError>;

    /// Returns whether the acquirer reports infractions. If not, its list of infractions is empty, and it refuses every
    /// defense.
    fn reports_infractions(&self) -> bool;

    /// Returns whether [`Self::list_received`] and [`Self::list_sent`] show each Pix with all its returns, including
    /// those for lost infractions. If not, the reconciliation does not compare the amounts of returns.
    fn lists_returns(&self) -> bool;

    /// Lists the infractions that were opened in a period.
    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError>;

    /// Sends a defense. The acquirer accepts one defense per infraction, so sending it again has no further effect.
    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError>;

    /// Verifies the signature of a callback. An acquirer without signatures accepts every callback.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] if the signature is missing or wrong.
    fn verify_callback(&self, body: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError>;

    /// Returns the items of a callback's body that may concern this service. The result is empty if there are none.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] if the body cannot be read.
    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError>;

    /// Registers `url` as the address for callbacks. A further call with the same `url` has no further effect.
    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError>;
}

//! Acquirers: the institutions that take and hold Pix charges for us.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::document::Document;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use jiff::Timestamp;

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
    /// What went back to the payer, or is on its way back.
    pub returned: Money,
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
}

/// A Pix as a callback names it: a hint at what to look for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NoticedPix {
    /// The charge that it is for.
    pub txid: Txid,
    /// The Pix, where it is named readably: it must be found upstream before the callback is done with.
    pub end_to_end_id: Option<EndToEndId>,
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

    /// The Pix that a callback's body names, as far as they are for charges; empty when it names none.
    ///
    /// # Errors
    /// [`AcquirerError::Refused`] when the body cannot be read.
    fn notice_pix(&self, body: &[u8]) -> Result<Vec<NoticedPix>, AcquirerError>;

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

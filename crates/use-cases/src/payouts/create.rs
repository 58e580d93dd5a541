//! Creating a payout: claim the key and hold the money, ask the acquirer, answer; each half in one commit, so that a crash
//! between them is resumed.

use cais_domain::account::{Account, Feature, NotPermitted};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{PayoutId, RequestId};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutTerms};
use cais_domain::pix_key::PixKey;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Claim, ClaimRef, CommitError, Fingerprint, Reservation, ReservationKey, Write};

use super::answer_again::{existing, not_covered, still_not_covered};
use super::complete::{Creation, Outcome, complete};
use super::resume::take_over;
use crate::answer::Answer;
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{Call, KeepError, Kept, KeyInUse, Reopening, Repeat, TakeOverError, of_the_other};
use crate::ports::Ports;
use crate::trouble::{DECISIONS, RETRY_AFTER_S, Trouble};

/// What a merchant asks for, already read and within the contract's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPayout {
    /// What the recipient is to get.
    pub amount: Money,
    /// Where it goes.
    pub pix_key: PixKey,
    /// Who must own the key, if that is to be checked.
    pub recipient_document: Option<Document>,
    /// Shown to the recipient.
    pub description: Option<Text>,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
}

/// A call to create a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatePayout {
    /// Who calls.
    pub account: Account,
    /// The call's own id.
    pub request: RequestId,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// Method, path and body of the call.
    pub fingerprint: Fingerprint,
    /// What is asked for.
    pub terms: NewPayout,
}

/// Why no payout was created. A balance that does not cover it is an answer of 422, kept for repeats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreatePayoutError {
    /// The account may not.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The key belongs to another request.
    #[error("the idempotency key was used for another request")]
    KeyConflict,
    /// The first request with the key is still being executed.
    #[error("the first request with this key is still being processed")]
    KeyInProgress {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// Above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// The external id belongs to a payout of another amount or to another key.
    #[error(transparent)]
    ExternalIdConflict(#[from] ExternalIdConflict),
    /// A payout with the external id is being created.
    #[error("a payout with this external id is still being created")]
    ExternalIdInProgress {
        /// When to look.
        retry_after_s: u32,
    },
    /// The acquirer certainly did not take it: all was given back, and nothing of it is visible.
    #[error("no acquirer took the payout")]
    AcquirerUnavailable,
    /// The store does not answer; it may have been created, and the same key resumes it.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// When to repeat with the same key.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Trouble> for CreatePayoutError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(reason) => {
                tracing::warn!(reason, "a payout could not be created");
                Self::Unavailable { retry_after_s: RETRY_AFTER_S }
            }
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<KeyInUse> for CreatePayoutError {
    fn from(error: KeyInUse) -> Self {
        match error {
            KeyInUse::Conflict => Self::KeyConflict,
            KeyInUse::InProgress { retry_after_s } => Self::KeyInProgress { retry_after_s },
        }
    }
}

impl From<KeepError> for CreatePayoutError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Key(error) => error.into(),
            KeepError::Store(trouble) => trouble.into(),
        }
    }
}

/// Creates a payout, repeats the answer of the call that did, or resumes what a call left half done.
///
/// # Errors
/// [`CreatePayoutError`]. A known key comes first, then what the account may do, its limit, the external id, cover and upstream.
pub async fn create(ports: &Ports, command: CreatePayout) -> Result<Answer, CreatePayoutError> {
    let acquirer = match clear(ports, &command) {
        Ok(acquirer) => acquirer,
        Err(reason) => return refuse(ports, &command, reason).await,
    };
    // The claim, the names, the record and the hold are one commit; nearly always all is well, so nothing is read first.
    let payout = open(ports, &command, acquirer)?;
    for _ in 0..DECISIONS {
        match ports.store.commit(first_commit(&command, &payout)).await {
            Ok(_) => {
                let holding = command.call().holding(payout.created_at);
                let payout = Payout { version: payout.version.saturating_add(1), ..payout };
                return finish(ports, Creation { payout, holding, asked_before: false }).await;
            }
            Err(CommitError::Claimed { claim }) => return repeat(ports, &command, *claim, None).await,
            Err(CommitError::Taken { key: ReservationKey::PayoutExternalId(..), by }) => {
                if let Some(answer) = existing(ports, &command, &by).await? {
                    return Ok(answer);
                }
            }
            Err(CommitError::NotCovered { available, .. }) => {
                return match not_covered(ports, &command, &payout, available).await? {
                    Kept::Answered(answer) => Ok(answer),
                    // Another call with this key came in between and was covered, or was refused as well.
                    Kept::Known(claim) => repeat(ports, &command, claim, None).await,
                };
            }
            Err(error) => return Err(Trouble::from(error).into()),
        }
    }
    Err(Trouble::contended().into())
}

/// Who a new payout is sent to, or why none is made: what the account may do first, then the business rules, then upstream.
fn clear(ports: &Ports, command: &CreatePayout) -> Result<AcquirerName, CreatePayoutError> {
    command.account.permit(Feature::PixOut)?;
    let limit = command.account.limits.payout;
    if command.terms.amount > limit {
        return Err(CreatePayoutError::TransactionLimit { limit });
    }
    ports.acquirers.first_sender().ok_or(CreatePayoutError::AcquirerUnavailable)
}

/// A call that cannot be executed now: what was answered before still is, then the reasons in their order.
async fn refuse(ports: &Ports, command: &CreatePayout, reason: CreatePayoutError) -> Result<Answer, CreatePayoutError> {
    let known = ports.queries.find_claim(&command.call().name).await.map_err(Trouble::from)?;
    match known {
        Some(claim) => repeat(ports, command, claim, Some(reason)).await,
        None => named_or(ports, command, reason).await,
    }
}

/// The payout that has the external id, or why none is made. An account that may make none gets none by an external id either.
async fn named_or(
    ports: &Ports,
    command: &CreatePayout,
    reason: CreatePayoutError,
) -> Result<Answer, CreatePayoutError> {
    if let CreatePayoutError::NotPermitted(_) = reason {
        return Err(reason);
    }
    let owner = match command.external_id_key() {
        Some(key) => ports.queries.find_owner(&key).await.map_err(Trouble::from)?,
        None => None,
    };
    let known = match owner {
        Some(owner) => existing(ports, command, &owner).await,
        None => Ok(None),
    };
    match known {
        // It was within the limit of its day, and nothing new is made.
        Ok(Some(answer)) => Ok(answer),
        Err(error) if reason == CreatePayoutError::AcquirerUnavailable => Err(error),
        Ok(None) | Err(_) => Err(reason),
    }
}

/// A call whose key is known; `refused` is why it would make nothing new today. What may have left is finished all the same.
async fn repeat(
    ports: &Ports,
    command: &CreatePayout,
    mut claim: Claim,
    refused: Option<CreatePayoutError>,
) -> Result<Answer, CreatePayoutError> {
    let reopening = if refused.is_none() { Reopening::Allowed } else { Reopening::Denied };
    for _ in 0..DECISIONS {
        claim = match command.call().repeats(claim, ports.clock.now())? {
            Repeat::Answered(answer) => return Ok(answer),
            Repeat::Orphaned(claim) => claim,
        };
        match take_over(ports, &claim, command.request, reopening).await {
            Ok(creation) => return finish(ports, creation).await,
            Err(TakeOverError::GivenUp) => {
                return named_or(ports, command, refused.unwrap_or(CreatePayoutError::AcquirerUnavailable)).await;
            }
            Err(TakeOverError::Commit(CommitError::Claimed { claim })) => return Ok(of_the_other(*claim)?),
            // It had been given up, and its external id has a new owner since.
            Err(TakeOverError::Commit(CommitError::Taken { by, .. })) => {
                if let Some(answer) = existing(ports, command, &by).await? {
                    return Ok(answer);
                }
            }
            // It had been given up, and its money was spent on something else since.
            Err(TakeOverError::Commit(CommitError::NotCovered { available, .. })) => {
                return Ok(still_not_covered(ports, command, &claim, available).await?);
            }
            // Whoever had it gave it up at this moment: that is resumed.
            Err(TakeOverError::Commit(CommitError::Stale)) => {}
            Err(TakeOverError::Commit(error)) => return Err(Trouble::from(error).into()),
        }
    }
    Err(Trouble::contended().into())
}

async fn finish(ports: &Ports, creation: Creation) -> Result<Answer, CreatePayoutError> {
    match complete(ports, creation).await? {
        Outcome::Answered(answer) => Ok(answer),
        Outcome::Abandoned => Err(CreatePayoutError::AcquirerUnavailable),
        Outcome::TakenOver => Err(KeyInUse::SOON.into()),
    }
}

fn open(ports: &Ports, command: &CreatePayout, acquirer: AcquirerName) -> Result<Payout, Trouble> {
    let asked = &command.terms;
    let fee = command.account.fees.get(Operation::PixOut).fee(asked.amount);
    let terms = PayoutTerms {
        amount: asked.amount,
        fee: fee.map_err(|error| Trouble::Internal(error.to_string()))?,
        pix_key: asked.pix_key.clone(),
        recipient_document: asked.recipient_document.clone(),
        description: asked.description.clone(),
        external_id: asked.external_id.clone(),
        origin: Origin::Api,
    };
    let id = PayoutId::new(ports.ids.next_uuid());
    Ok(Payout::open(id, command.account.id, terms, acquirer, ports.clock.now()))
}

fn first_commit(command: &CreatePayout, payout: &Payout) -> ChangeSet {
    let id = payout.id.to_string();
    let reserve = |key| Reservation { key, account: payout.account, owner: id.clone() };
    let mut change = ChangeSet::new(payout.created_at);
    change.reserve.extend(command.external_id_key().map(reserve));
    change.reserve.push(reserve(ReservationKey::InstructionId(payout.instruction_id())));
    change.writes.push(Write::InsertPayout(Box::new(payout.clone())));
    change.transfers = payout.hold();
    change.claim = Some(command.call().takes(id, payout.created_at));
    change
}

impl CreatePayout {
    pub(super) fn call(&self) -> Call {
        let name = ClaimRef { account: self.account.id, key: self.key.clone() };
        Call { name, fingerprint: self.fingerprint, request: self.request }
    }

    fn external_id_key(&self) -> Option<ReservationKey> {
        let external_id = self.terms.external_id.clone()?;
        Some(ReservationKey::PayoutExternalId(self.account.id, external_id))
    }
}

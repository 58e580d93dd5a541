//! Creating a charge: claim the key, ask an acquirer, answer; each half in one commit, so that a crash between them is resumed.

use cais_domain::account::{Account, Feature, NotPermitted};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeTerms, Origin};
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{ChargeId, RequestId};
use cais_domain::money::Money;
use cais_domain::split::Split;
use cais_domain::text::Text;
use cais_domain::webhook::Postback;
use cais_ports::{ChangeSet, Claim, ClaimRef, CommitError, Fingerprint, Reservation, ReservationKey, Write};

use super::answer_again::existing;
use super::complete::{Creation, Outcome, complete};
use super::resume::take_over;
pub use super::split::AskedShare;
use super::split::resolve;
use crate::answer::Answer;
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{
    IdempotentRequest, KeepError, KeyInUse, Reopening, ReplayDecision, TakeOverError, of_the_other,
};
use crate::ports::Ports;
use crate::trouble::{DECISIONS, RETRY_AFTER_S, Trouble};
use crate::webhooks::postback;

/// What a merchant asks for, already read and within the contract's limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCharge {
    /// What the payer is to pay.
    pub amount: Money,
    /// Shown to the payer.
    pub description: Option<Text>,
    /// As written.
    pub payer_name: Option<Text>,
    /// As written.
    pub payer_document: Option<Text>,
    /// Seconds until it can no longer be paid.
    pub expires_in_s: u32,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
    /// The address of one of the account's endpoints: its events go there besides to those that are subscribed.
    pub postback_url: Option<String>,
    /// Who is to share in it; nobody when empty.
    pub split: Vec<AskedShare>,
}

/// A call to create a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateCharge {
    /// Who calls.
    pub account: Account,
    /// The call's own id.
    pub request: RequestId,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// Method, path and body of the call.
    pub fingerprint: Fingerprint,
    /// What is asked for.
    pub terms: NewCharge,
}

/// Why no charge was created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateChargeError {
    /// The account may not.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account may not divide charges.
    #[error("the account has no split feature")]
    SplitDisabled,
    /// The key belongs to another request.
    #[error("the idempotency key was used for another request")]
    KeyConflict,
    /// The first request with the key is still being executed.
    #[error("the first request with this key is still being processed")]
    KeyInProgress {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// None of the account's active endpoints has the address.
    #[error("the postback_url is not a registered, active webhook endpoint of the account")]
    PostbackUrlNotRegistered,
    /// Above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// An account that is to share in it does not exist, may not, or is the creator's own.
    #[error("the recipient of share {index} is not eligible")]
    SplitRecipientNotEligible {
        /// The position of the share, from 0.
        index: usize,
    },
    /// The external id belongs to a charge of another amount.
    #[error(transparent)]
    ExternalIdConflict(#[from] ExternalIdConflict),
    /// A charge with the external id is being created.
    #[error("a charge with this external id is still being created")]
    ExternalIdInProgress {
        /// When to look.
        retry_after_s: u32,
    },
    /// Every acquirer certainly did not take it; nothing of it is visible.
    #[error("no acquirer took the charge")]
    AcquirerUnavailable,
    /// It may or may not have been created; the same key resumes it.
    #[error("the outcome is not known yet")]
    Unavailable {
        /// When to repeat with the same key.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Trouble> for CreateChargeError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(reason) => {
                tracing::warn!(reason, "a charge could not be created");
                Self::Unavailable { retry_after_s: RETRY_AFTER_S }
            }
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<KeyInUse> for CreateChargeError {
    fn from(error: KeyInUse) -> Self {
        match error {
            KeyInUse::Conflict => Self::KeyConflict,
            KeyInUse::InProgress { retry_after_s } => Self::KeyInProgress { retry_after_s },
        }
    }
}

impl From<KeepError> for CreateChargeError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Key(error) => error.into(),
            KeepError::Store(trouble) => trouble.into(),
        }
    }
}

/// Creates a charge, repeats the answer of the call that did, or resumes what a call left half done.
///
/// # Errors
/// [`CreateChargeError`]. A known key comes first, then what the account may do, then the terms, the external id and upstream.
pub async fn create(ports: &Ports, command: CreateCharge) -> Result<Answer, CreateChargeError> {
    let Cleared { acquirer, split, postback } = match clear(ports, &command).await? {
        Ok(cleared) => cleared,
        Err(reason) => return refuse(ports, &command, reason).await,
    };
    // The claim, the names and the record are one commit; nearly always nobody has them, so they are not read first.
    let charge = open(ports, &command, acquirer, (split, postback))?;
    for _ in 0..DECISIONS {
        match ports.store.commit(first_commit(&command, &charge)).await {
            Ok(_) => {
                let holding = command.call().holding(charge.created_at);
                let charge = Charge { version: charge.version.saturating_add(1), ..charge };
                return finish(ports, Creation { charge, holding, asked_before: false }).await;
            }
            Err(CommitError::Claimed { claim }) => return repeat(ports, &command, *claim, None).await,
            Err(CommitError::Taken { key: ReservationKey::ChargeExternalId(..), by }) => {
                if let Some(answer) = existing(ports, &command, &by).await? {
                    return Ok(answer);
                }
            }
            Err(error) => return Err(Trouble::from(error).into()),
        }
    }
    Err(Trouble::contended().into())
}

/// What a charge that may be made is made with.
struct Cleared {
    acquirer: AcquirerName,
    split: Split,
    postback: Option<Postback>,
}

/// Who a new charge is sent to, who shares in it and who hears of it, or why none is made: what the account may do first, then what
/// was asked for, the business rules and upstream.
async fn clear(ports: &Ports, command: &CreateCharge) -> Result<Result<Cleared, CreateChargeError>, Trouble> {
    if let Err(reason) = command.account.permit(Feature::PixIn) {
        return Ok(Err(reason.into()));
    }
    if !command.terms.split.is_empty() && !command.account.features.contains(Feature::Split) {
        return Ok(Err(CreateChargeError::SplitDisabled));
    }
    let postback = match &command.terms.postback_url {
        Some(url) => match postback::resolve(ports, command.account.id, url).await? {
            Some(postback) => Some(postback),
            None => return Ok(Err(CreateChargeError::PostbackUrlNotRegistered)),
        },
        None => None,
    };
    let limit = command.account.limits.charge;
    if command.terms.amount > limit {
        return Ok(Err(CreateChargeError::TransactionLimit { limit }));
    }
    let split = match resolve(ports, &command.account, &command.terms.split).await? {
        Ok(split) => split,
        Err(index) => return Ok(Err(CreateChargeError::SplitRecipientNotEligible { index })),
    };
    let acquirer = ports.acquirers.first().ok_or(CreateChargeError::AcquirerUnavailable);
    Ok(acquirer.map(|acquirer| Cleared { acquirer, split, postback }))
}

/// A call that cannot be executed now: what was answered before still is, then the reasons in their order.
async fn refuse(ports: &Ports, command: &CreateCharge, reason: CreateChargeError) -> Result<Answer, CreateChargeError> {
    let known = ports.queries.find_claim(&command.call().name).await.map_err(Trouble::from)?;
    match known {
        Some(claim) => repeat(ports, command, claim, Some(reason)).await,
        None => named_or(ports, command, reason).await,
    }
}

/// The charge that has the external id, or why none is made. An account that may make none gets none by an external id either.
async fn named_or(
    ports: &Ports,
    command: &CreateCharge,
    reason: CreateChargeError,
) -> Result<Answer, CreateChargeError> {
    if let CreateChargeError::NotPermitted(_) | CreateChargeError::SplitDisabled = reason {
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
        // It was within the rules of its day, and nothing new is made.
        Ok(Some(answer)) => Ok(answer),
        Err(error) if reason == CreateChargeError::AcquirerUnavailable => Err(error),
        Ok(None) | Err(_) => Err(reason),
    }
}

/// A call whose key is known; `refused` is why it would make nothing new today. What somebody may have is finished all the same.
async fn repeat(
    ports: &Ports,
    command: &CreateCharge,
    claim: Claim,
    refused: Option<CreateChargeError>,
) -> Result<Answer, CreateChargeError> {
    let claim = match command.call().repeats(claim, ports.clock.now())? {
        ReplayDecision::Answered(answer) => return Ok(answer),
        ReplayDecision::Orphaned(claim) => claim,
    };
    let by_the_rules = refused.as_ref().is_none_or(|reason| *reason == CreateChargeError::AcquirerUnavailable);
    if by_the_rules && ports.acquirers.first().is_none() {
        return Err(CreateChargeError::AcquirerUnavailable);
    }
    let reopening = if by_the_rules { Reopening::Allowed } else { Reopening::Denied };
    match take_over(ports, &claim, command.request, reopening).await {
        Ok(creation) => finish(ports, creation).await,
        Err(TakeOverError::GivenUp) => {
            named_or(ports, command, refused.unwrap_or(CreateChargeError::AcquirerUnavailable)).await
        }
        Err(TakeOverError::Commit(CommitError::Claimed { claim })) => Ok(of_the_other(*claim)?),
        // It had been given up, and its external id has a new owner since.
        Err(TakeOverError::Commit(CommitError::Taken { by, .. })) => match existing(ports, command, &by).await? {
            Some(answer) => Ok(answer),
            None => Err(CreateChargeError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        },
        Err(TakeOverError::Commit(error)) => Err(Trouble::from(error).into()),
    }
}

async fn finish(ports: &Ports, creation: Creation) -> Result<Answer, CreateChargeError> {
    match complete(ports, creation).await? {
        Outcome::Answered(answer) => Ok(answer),
        Outcome::Abandoned => Err(CreateChargeError::AcquirerUnavailable),
        Outcome::Unknown => Err(CreateChargeError::Unavailable { retry_after_s: RETRY_AFTER_S }),
        Outcome::TakenOver => Err(KeyInUse::SOON.into()),
    }
}

fn open(
    ports: &Ports,
    command: &CreateCharge,
    acquirer: AcquirerName,
    (split, postback): (Split, Option<Postback>),
) -> Result<Charge, Trouble> {
    let asked = &command.terms;
    let fee = command.account.fees.get(Operation::PixIn).fee(asked.amount);
    let terms = ChargeTerms {
        amount: asked.amount,
        fee: fee.map_err(|error| Trouble::Internal(error.to_string()))?,
        description: asked.description.clone(),
        payer_name: asked.payer_name.clone(),
        payer_document: asked.payer_document.clone(),
        expires_in_s: asked.expires_in_s,
        external_id: asked.external_id.clone(),
        postback,
        split,
        origin: Origin::Api,
    };
    let id = ChargeId::new(ports.ids.next_uuid());
    Ok(Charge::open(id, command.account.id, terms, acquirer, ports.clock.now()))
}

fn first_commit(command: &CreateCharge, charge: &Charge) -> ChangeSet {
    let id = charge.id.to_string();
    let reserve = |key| Reservation { key, account: charge.account, owner: id.clone() };
    let mut change = ChangeSet::new(charge.created_at);
    change.reserve.extend(command.external_id_key().map(reserve));
    change.reserve.push(reserve(ReservationKey::Txid(charge.txid.clone())));
    change.writes.push(Write::InsertCharge(Box::new(charge.clone())));
    change.claim = Some(command.call().takes(id, charge.created_at));
    change
}

impl CreateCharge {
    pub(super) fn call(&self) -> IdempotentRequest {
        let name = ClaimRef { account: self.account.id, key: self.key.clone() };
        IdempotentRequest { name, fingerprint: self.fingerprint, request: self.request }
    }

    fn external_id_key(&self) -> Option<ReservationKey> {
        let external_id = self.terms.external_id.clone()?;
        Some(ReservationKey::ChargeExternalId(self.account.id, external_id))
    }
}

//! Creating a charge: claim the key, ask an acquirer, answer; each half in one commit, so that a crash between them is resumed.

use cais_domain::account::{Account, Feature, NotPermitted};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeTerms, Origin};
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{ChargeId, RequestId};
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{
    ChangeSet, Claim, ClaimChange, ClaimRef, CommitError, Fingerprint, NewClaim, Reservation, ReservationKey, Write,
};
use jiff::{SignedDuration, Timestamp};

use super::answer_again::existing;
use super::complete::{Creation, Outcome, complete};
use super::resume::take_over;
use crate::answer::Answer;
use crate::ports::Ports;
use crate::trouble::{DECISIONS, RETRY_AFTER_S, Trouble};

/// How long the process that took a key may be at work before another takes over.
pub const LEASE: SignedDuration = SignedDuration::from_secs(30);

/// How long the process that took a key is at work at most; one that has been for longer has died.
const POST_WITHIN: SignedDuration = SignedDuration::from_secs(10);

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
    /// Where its events go besides the subscribed endpoints.
    pub postback_url: Option<String>,
    /// Whether it is to be divided among accounts.
    pub split_asked: bool,
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
    /// Above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The limit.
        limit: Money,
    },
    /// The external id belongs to a charge of another amount.
    #[error("the external id belongs to a charge of another amount")]
    ExternalIdConflict,
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

/// Creates a charge, repeats the answer of the call that did, or resumes what a call left half done.
///
/// # Errors
/// [`CreateChargeError`]; the checks come in the order of its variants.
pub async fn create(ports: &Ports, command: CreateCharge) -> Result<Answer, CreateChargeError> {
    command.account.permit(Feature::PixIn)?;
    if command.terms.split_asked {
        return Err(CreateChargeError::SplitDisabled);
    }
    let limit = command.account.limits.charge;
    let acquirer = ports.acquirers.first();
    let (Some(acquirer), true) = (&acquirer, command.terms.amount <= limit) else {
        return refuse(ports, &command, acquirer).await;
    };
    // The claim, the names and the record are one commit; nearly always nobody has them, so nothing is read first.
    let charge = open(ports, &command, acquirer)?;
    for _ in 0..DECISIONS {
        match ports.store.commit(first_commit(&command, &charge)).await {
            Ok(_) => {
                let charge = Charge { version: charge.version.saturating_add(1), ..charge };
                let (name, request) = (command.claim_name(), command.request);
                return finish(ports, Creation { charge, name, fence: 1, request, asked_before: false }).await;
            }
            Err(CommitError::Claimed { claim }) => return repeat(ports, &command, *claim).await,
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

/// A call that cannot be executed now: what was answered before still is, then the reasons in their order.
async fn refuse(
    ports: &Ports,
    command: &CreateCharge,
    acquirer: Option<AcquirerName>,
) -> Result<Answer, CreateChargeError> {
    let known = ports.queries.find_claim(&command.claim_name()).await.map_err(Trouble::from)?;
    if let Some(claim) = known {
        return repeat(ports, command, claim).await;
    }
    let owner = match command.external_id_key() {
        Some(key) => ports.queries.find_owner(&key).await.map_err(Trouble::from)?,
        None => None,
    };
    let known = match owner {
        Some(owner) => existing(ports, command, &owner).await,
        None => Ok(None),
    };
    let limit = command.account.limits.charge;
    match known {
        // It was within the limit of its day, and nothing new is made.
        Ok(Some(answer)) => Ok(answer),
        Ok(None) | Err(_) if command.terms.amount > limit => Err(CreateChargeError::TransactionLimit { limit }),
        Err(error) => Err(error),
        Ok(None) => {
            debug_assert!(acquirer.is_none(), "within the limit, only a missing acquirer leads here");
            Err(CreateChargeError::AcquirerUnavailable)
        }
    }
}

/// A call whose key is known.
async fn repeat(ports: &Ports, command: &CreateCharge, claim: Claim) -> Result<Answer, CreateChargeError> {
    if claim.fingerprint != command.fingerprint {
        return Err(CreateChargeError::KeyConflict);
    }
    if let Some(stored) = claim.answer {
        return Ok(Answer::replayed(stored));
    }
    if claim.lease_until > ports.clock.now() {
        return Err(CreateChargeError::KeyInProgress { retry_after_s: patience(&claim, ports.clock.now()) });
    }
    if ports.acquirers.first().is_none() {
        return Err(CreateChargeError::AcquirerUnavailable);
    }
    match take_over(ports, &claim, command.request).await {
        Ok(creation) => finish(ports, creation).await,
        Err(CommitError::Claimed { claim }) => match claim.answer {
            Some(stored) => Ok(Answer::replayed(stored)),
            None => Err(CreateChargeError::KeyInProgress { retry_after_s: RETRY_AFTER_S }),
        },
        // It had been given up, and its external id has a new owner since.
        Err(CommitError::Taken { by, .. }) => match existing(ports, command, &by).await? {
            Some(answer) => Ok(answer),
            None => Err(CreateChargeError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        },
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// When a repeat may find more: soon while the first request can still be at work, else when its lease is over.
fn patience(claim: &Claim, now: Timestamp) -> u32 {
    let left = claim.lease_until.duration_since(now);
    if LEASE.saturating_sub(left) < POST_WITHIN {
        return RETRY_AFTER_S;
    }
    u32::try_from(left.as_secs()).unwrap_or(RETRY_AFTER_S).saturating_add(1)
}

async fn finish(ports: &Ports, creation: Creation) -> Result<Answer, CreateChargeError> {
    match complete(ports, creation).await? {
        Outcome::Answered(answer) => Ok(answer),
        Outcome::Abandoned => Err(CreateChargeError::AcquirerUnavailable),
        Outcome::Unknown => Err(CreateChargeError::Unavailable { retry_after_s: RETRY_AFTER_S }),
        Outcome::TakenOver => Err(CreateChargeError::KeyInProgress { retry_after_s: RETRY_AFTER_S }),
    }
}

fn open(ports: &Ports, command: &CreateCharge, acquirer: &AcquirerName) -> Result<Charge, Trouble> {
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
        postback_url: asked.postback_url.clone(),
        origin: Origin::Api,
    };
    let id = ChargeId::new(ports.ids.next_uuid());
    Ok(Charge::open(id, command.account.id, terms, acquirer.clone(), ports.clock.now()))
}

fn first_commit(command: &CreateCharge, charge: &Charge) -> ChangeSet {
    let id = charge.id.to_string();
    let reserve = |key| Reservation { key, account: charge.account, owner: id.clone() };
    let mut change = ChangeSet::new(charge.created_at);
    change.reserve.extend(command.external_id_key().map(reserve));
    change.reserve.push(reserve(ReservationKey::Txid(charge.txid.clone())));
    change.writes.push(Write::InsertCharge(Box::new(charge.clone())));
    change.claim = Some(ClaimChange::Take(NewClaim {
        name: command.claim_name(),
        fingerprint: command.fingerprint,
        resource: id,
        lease_until: lease_from(charge.created_at),
        answer: None,
    }));
    change
}

/// The end of a lease that begins at `now`.
pub(super) fn lease_from(now: Timestamp) -> Timestamp {
    now.saturating_add(LEASE).unwrap_or(Timestamp::MAX)
}

impl CreateCharge {
    pub(super) fn claim_name(&self) -> ClaimRef {
        ClaimRef { account: self.account.id, key: self.key.clone() }
    }

    fn external_id_key(&self) -> Option<ReservationKey> {
        let external_id = self.terms.external_id.clone()?;
        Some(ReservationKey::ChargeExternalId(self.account.id, external_id))
    }
}

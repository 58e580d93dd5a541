//! Idempotency keys: what a repeat gets, who may finish what a call began, and how an answer is kept; the same for everything
//! that is created under a key.

use cais_domain::ids::RequestId;
use cais_domain::pause::doubled;
use cais_ports::{
    CLAIM_LEASE, ChangeSet, Claim, ClaimChange, ClaimRef, CommitError, Due, Fingerprint, NewClaim, StoredAnswer,
};
use jiff::{SignedDuration, Timestamp};

use crate::answer::Answer;
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// How long the process that took a key is at work at most; one that has been for longer has died.
const POST_WITHIN: SignedDuration = SignedDuration::from_secs(10);

/// A call under a key.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentRequest {
    /// Whose key, and which.
    pub name: ClaimRef,
    /// Method, path and body of the call.
    pub fingerprint: Fingerprint,
    /// The call's own id.
    pub request: RequestId,
}

/// Why a call under a known key is not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyInUse {
    /// The key belongs to another request.
    Conflict,
    /// The first request with the key is still being executed.
    InProgress {
        /// When to repeat.
        retry_after_s: u32,
    },
}

impl KeyInUse {
    /// Somebody else has just begun, or is about to be done.
    pub(crate) const SOON: Self = Self::InProgress { retry_after_s: RETRY_AFTER_S };
}

/// Why an answer could not be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeepError {
    /// The key is another's.
    Key(KeyInUse),
    /// The store has no answer.
    Store(Trouble),
}

impl From<KeyInUse> for KeepError {
    fn from(error: KeyInUse) -> Self {
        Self::Key(error)
    }
}

impl From<Trouble> for KeepError {
    fn from(trouble: Trouble) -> Self {
        Self::Store(trouble)
    }
}

/// What a call under a known key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplayDecision {
    /// It was answered; this is the answer.
    Answered(Answer),
    /// Nobody is at work on it: what was begun is resumed.
    Orphaned(Claim),
}

/// What became of taking a key for an answer alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    /// It is the answer of the key from now on.
    Answered(Answer),
    /// Somebody has the key already; this is the claim as it stands.
    Known(Claim),
}

/// The right to finish what was begun under a key.
#[derive(Debug, Clone)]
pub(crate) struct RequestLease {
    /// Which claim.
    pub name: ClaimRef,
    /// The fence with which it is held.
    pub fence: i64,
    /// The request that is answered.
    pub request: RequestId,
    /// Until when it is held for certain.
    pub until: Timestamp,
}

impl IdempotentRequest {
    /// The first use of the key, for `resource`, unanswered.
    pub(crate) fn takes(&self, resource: String, now: Timestamp) -> ClaimChange {
        self.claim(resource, lease_from(now), None)
    }

    /// The first use of the key, with the answer that it keeps.
    pub(crate) fn takes_answered(&self, resource: String, status: u16, body: Vec<u8>, now: Timestamp) -> ClaimChange {
        self.claim(resource, now, Some(StoredAnswer { status, request: self.request, body }))
    }

    fn claim(&self, resource: String, lease_until: Timestamp, answer: Option<StoredAnswer>) -> ClaimChange {
        let (name, fingerprint) = (self.name.clone(), self.fingerprint);
        ClaimChange::Take(NewClaim { name, fingerprint, resource, lease_until, answer })
    }

    /// What the call holds once its first commit, made at `now`, became true.
    pub(crate) fn holding(&self, now: Timestamp) -> RequestLease {
        RequestLease { name: self.name.clone(), fence: 1, request: self.request, until: lease_from(now) }
    }

    /// What the call leads to when its key is known.
    pub(crate) fn repeats(&self, claim: Claim, now: Timestamp) -> Result<ReplayDecision, KeyInUse> {
        if claim.fingerprint != self.fingerprint {
            return Err(KeyInUse::Conflict);
        }
        if let Some(stored) = claim.answer {
            return Ok(ReplayDecision::Answered(Answer::replayed(stored)));
        }
        if !Due::new(now, CLAIM_LEASE).is(claim.lease_until) {
            return Err(KeyInUse::InProgress { retry_after_s: retry_after_s(&claim, now) });
        }
        Ok(ReplayDecision::Orphaned(claim))
    }
}

impl RequestLease {
    /// The claim after its next holder took it over at `now`, and what that one holds.
    pub(crate) fn taken_over(claim: &Claim, request: RequestId, now: Timestamp) -> (ClaimChange, Self) {
        let (name, until) = (claim.name.clone(), lease_from(now));
        let retake = ClaimChange::Retake { name: name.clone(), fence: claim.fence, lease_until: until };
        (retake, Self { name, fence: claim.fence.saturating_add(1), request, until })
    }

    /// The claim, answered.
    pub(crate) fn answers(&self, status: u16, body: Vec<u8>) -> ClaimChange {
        let answer = StoredAnswer { status, request: self.request, body };
        ClaimChange::Answer { name: self.name.clone(), fence: self.fence, answer }
    }

    /// The claim, given back: to its caller alone, so that only a repeat resumes it.
    pub(crate) fn releases(&self) -> ClaimChange {
        ClaimChange::Release { name: self.name.clone(), fence: self.fence, due_at: None }
    }

    /// The claim, given back to its caller and to the workers: they try 2 s after the first attempt, then ever later.
    pub(crate) fn postpones(&self, now: Timestamp) -> ClaimChange {
        let doublings = u32::try_from(self.fence.clamp(1, 16)).unwrap_or(1);
        let due_at = Some(now.saturating_add(doubled(doublings)).unwrap_or(Timestamp::MAX));
        ClaimChange::Release { name: self.name.clone(), fence: self.fence, due_at }
    }
}

/// What a call gets whose claim another one holds by now.
pub(crate) fn of_the_other(claim: Claim) -> Result<Answer, KeyInUse> {
    claim.answer.map(Answer::replayed).ok_or(KeyInUse::SOON)
}

/// Keeps `status` and `body` as the answer of a call that has found what it asks for, so that a repeat gets the same bytes.
///
/// A creation of this key that was given up before is answered by it, too.
pub(crate) async fn remember(
    ports: &Ports,
    call: &IdempotentRequest,
    resource: &str,
    status: u16,
    body: Vec<u8>,
) -> Result<Answer, KeepError> {
    let claim = match keep_answer(ports, call, resource, status, body.clone()).await? {
        Stored::Answered(answer) => return Ok(answer),
        Stored::Known(claim) => claim,
    };
    match call.repeats(claim, ports.clock.now())? {
        ReplayDecision::Answered(answer) => Ok(answer),
        ReplayDecision::Orphaned(claim) => answer_orphaned(ports, call, &claim, status, body).await,
    }
}

/// Takes the key for `status` and `body` alone; the claim as it stands when somebody else has taken it.
pub(crate) async fn keep_answer(
    ports: &Ports,
    call: &IdempotentRequest,
    resource: &str,
    status: u16,
    body: Vec<u8>,
) -> Result<Stored, Trouble> {
    let now = ports.clock.now();
    let take = call.takes_answered(resource.to_owned(), status, body.clone(), now);
    let other = keep(ports, take, now).await?;
    Ok(other.map_or_else(|| Stored::Answered(Answer::fresh(status, body)), Stored::Known))
}

/// Answers a call whose creation was given up before, without resuming it.
pub(crate) async fn answer_orphaned(
    ports: &Ports,
    call: &IdempotentRequest,
    claim: &Claim,
    status: u16,
    body: Vec<u8>,
) -> Result<Answer, KeepError> {
    let answer = StoredAnswer { status, request: call.request, body: body.clone() };
    let late = ClaimChange::Answer { name: claim.name.clone(), fence: claim.fence, answer };
    match keep(ports, late, ports.clock.now()).await? {
        None => Ok(Answer::fresh(status, body)),
        Some(claim) => Ok(of_the_other(claim)?),
    }
}

/// Changes a claim alone; the claim as it stands when it is another's.
async fn keep(ports: &Ports, claim: ClaimChange, now: Timestamp) -> Result<Option<Claim>, Trouble> {
    let change = ChangeSet { claim: Some(claim), ..ChangeSet::new(now) };
    match ports.store.commit(change).await {
        Ok(_) => Ok(None),
        Err(CommitError::Claimed { claim }) => Ok(Some(*claim)),
        Err(error) => Err(error.into()),
    }
}

/// When a repeat may find more: soon while the first request can still be at work, else when its lease is over.
fn retry_after_s(claim: &Claim, now: Timestamp) -> u32 {
    let left = claim.lease_until.duration_since(now);
    if CLAIM_LEASE.saturating_sub(left) < POST_WITHIN {
        return RETRY_AFTER_S;
    }
    u32::try_from(left.as_secs()).unwrap_or(RETRY_AFTER_S).saturating_add(1)
}

/// The end of a lease that begins at `now`.
fn lease_from(now: Timestamp) -> Timestamp {
    now.saturating_add(CLAIM_LEASE).unwrap_or(Timestamp::MAX)
}

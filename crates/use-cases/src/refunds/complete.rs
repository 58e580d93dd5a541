//! The second half of a refund's creation: ask its acquirer, then make the outcome and the answer true together.

use cais_domain::refund::{Refund, RefundError, RefundState, RefundStatus, RefundStep};
use cais_ports::{ChangeSet, CommitError, ReservationKey, UpstreamReturn};

use super::ROUNDS;
use super::decide::{change_set, charge_of, complain, decide, reread, stored, unless_outdated};
use super::upstream::{send_first, send_resumed};
use crate::answer::Answer;
use crate::idempotency::{KeyInUse, RequestLease, of_the_other};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream_result::UpstreamResult;

/// A creation that is under way, and the right to finish it.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    /// The refund, in state `Pending`, or later when somebody else learned its outcome.
    pub refund: Refund,
    /// The claim it is made under.
    pub holding: RequestLease,
    /// Whether its acquirer may have been asked already: then nothing proves any more that it has not got it.
    pub asked_before: bool,
}

/// How a creation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is there, and this is the answer from now on.
    Answered(Answer),
    /// Its acquirer certainly did not take it; nothing of it is visible, and its external id is free again.
    Abandoned,
    /// Somebody else finishes it, or has.
    TakenOver(KeyInUse),
}

/// Asks the acquirer and commits the outcome.
pub(super) async fn complete(ports: &Ports, mut creation: Creation) -> Result<Outcome, Trouble> {
    let result = match creation.refund.state.status() {
        RefundStatus::Pending => ask(&creation, ports).await,
        // Somebody learned its outcome before its creation was finished: only the answer is missing.
        RefundStatus::Abandoned | RefundStatus::Processing | RefundStatus::Completed | RefundStatus::Failed => {
            UpstreamResult::Unknown("it was not asked".to_owned())
        }
    };
    for _ in 0..ROUNDS {
        match commit(ports, &creation, &result).await? {
            Some(outcome) => return Ok(outcome),
            None => creation.refund = reread(ports, &creation.refund).await?,
        }
    }
    Err(Trouble::contended())
}

/// One attempt at the second commit; `None` when the refund or its charge was changed meanwhile.
async fn commit(
    ports: &Ports,
    creation: &Creation,
    result: &UpstreamResult<UpstreamReturn>,
) -> Result<Option<Outcome>, Trouble> {
    let charge = charge_of(ports, &creation.refund).await?;
    let now = ports.clock.now();
    let (refund, mut change) = match decide(creation.refund.clone(), charge, result, now) {
        Ok(RefundStep::Taken(step)) => {
            let change = change_set(ports, &step, now).await?;
            (step.refund, change)
        }
        Ok(RefundStep::AlreadyTaken(refund)) => (*refund, ChangeSet::new(now)),
        // Its outcome was learned before the reply came: that is the answer.
        Err(RefundError::InvalidState(_)) => {
            complain(&creation.refund, result);
            (creation.refund.clone(), ChangeSet::new(now))
        }
        Err(error) => return unless_outdated(ports, &creation.refund, error).await.map(|()| None),
    };
    let outcome = if let RefundState::Abandoned { .. } = &refund.state {
        change.claim = Some(creation.holding.releases());
        change.unreserve.extend(external_id_key(&refund));
        Outcome::Abandoned
    } else {
        let body = ports.representation.refund(&refund);
        change.claim = Some(creation.holding.answers(201, body.clone()));
        Outcome::Answered(Answer::fresh(201, body))
    };
    match ports.store.commit(change).await {
        Ok(_) => Ok(Some(outcome)),
        Err(CommitError::Stale) => Ok(None),
        Err(CommitError::Claimed { claim }) => {
            Ok(Some(of_the_other(*claim).map_or_else(Outcome::TakenOver, Outcome::Answered)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks the acquirer of a refund that is not known to have left.
async fn ask(creation: &Creation, ports: &Ports) -> UpstreamResult<UpstreamReturn> {
    let Creation { refund, holding, asked_before } = creation;
    let result = if *asked_before {
        send_resumed(ports, refund, holding.until).await
    } else {
        send_first(ports, refund, holding.until).await
    };
    if let Some(reason) = result.reason() {
        tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, reason, asked_before, "refund not confirmed by its acquirer");
    }
    result
}

/// The merchant's name for it, as it is reserved.
pub(super) fn external_id_key(refund: &Refund) -> Option<ReservationKey> {
    let external_id = refund.external_id.clone()?;
    Some(ReservationKey::RefundExternalId(refund.account, external_id))
}

/// The creation that follows a first commit: the refund was written once more.
pub(super) fn under_way(refund: Refund, holding: RequestLease, asked_before: bool) -> Creation {
    Creation { refund: stored(refund), holding, asked_before }
}

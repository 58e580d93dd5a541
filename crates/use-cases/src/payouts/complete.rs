//! The second half of a payout's creation: ask upstream, then make the outcome and the answer true together.

use cais_domain::payout::{Payout, PayoutError, PayoutState, PayoutStep, Recipient};
use cais_ports::{Claim, CommitError, ReservationKey, UpstreamPayout};
use jiff::Timestamp;

use super::steps::Steps;
use super::sync::{judge, reread, why};
use super::upstream::{send_first, send_resumed};
use crate::answer::Answer;
use crate::idempotency::{Holding, of_the_other};
use crate::ports::Ports;
use crate::trouble::{DECISIONS, Trouble};
use crate::upstream_result::UpstreamResult;

/// A creation that is under way, and the right to finish it.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    /// The payout, in state `Pending`, or later when a callback came before the reply.
    pub payout: Payout,
    /// The claim it is made under.
    pub holding: Holding,
    /// Whether its acquirer may have it already.
    pub asked_before: bool,
}

/// How a creation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is there, wherever it stands, and this is the answer from now on.
    Answered(Answer),
    /// The acquirer certainly did not take it: all is given back, nothing of it is visible, its external id is free again.
    Abandoned,
    /// Somebody else finishes it.
    TakenOver,
}

/// Asks upstream and commits the outcome.
pub(super) async fn complete(ports: &Ports, creation: Creation) -> Result<Outcome, Trouble> {
    let Creation { payout, holding, asked_before } = creation;
    let result = match (&payout.state, asked_before) {
        (PayoutState::Pending { .. }, false) => logged(&payout, send_first(ports, &payout, holding.until).await),
        (PayoutState::Pending { .. }, true) => logged(&payout, send_resumed(ports, &payout, holding.until).await),
        // A callback has moved it: only the answer is missing.
        (
            PayoutState::Abandoned { .. }
            | PayoutState::Processing(_)
            | PayoutState::Completed { .. }
            | PayoutState::Failed { .. }
            | PayoutState::Reversed { .. },
            _,
        ) => UpstreamResult::Unknown("it was not asked".to_owned()),
    };
    settle(ports, payout, &holding, &result).await
}

async fn settle(
    ports: &Ports,
    mut payout: Payout,
    holding: &Holding,
    result: &UpstreamResult<UpstreamPayout>,
) -> Result<Outcome, Trouble> {
    for _ in 0..DECISIONS {
        let now = ports.clock.now();
        let step = match decide(payout.clone(), result, now)? {
            // Given up by another, who gave its name back as well: whose that is now is not known here.
            PayoutStep::AlreadyTaken(payout) if !payout.is_visible() => return Ok(Outcome::TakenOver),
            step @ (PayoutStep::Taken { .. } | PayoutStep::AlreadyTaken(_)) => step,
        };
        let mut steps = Steps::begin(ports, step, now);
        if let UpstreamResult::Known(upstream) = result {
            // Parts that came back before we learned that it was sent at all.
            steps.take_back(ports, &upstream.returned).await?;
        }
        let (mut change, after) = steps.done();
        let outcome = if after.is_visible() {
            let body = ports.representation.payout(&after);
            change.claim = Some(holding.answers(201, body.clone()));
            Outcome::Answered(Answer::fresh(201, body))
        } else {
            change.claim = Some(holding.releases());
            let external_id = after.terms.external_id.clone();
            change.unreserve.extend(external_id.map(|id| ReservationKey::PayoutExternalId(after.account, id)));
            Outcome::Abandoned
        };
        match ports.store.commit(change).await {
            Ok(_) => return Ok(outcome),
            // A callback has moved it, or credited a part.
            Err(CommitError::Taken { .. } | CommitError::Stale) => payout = reread(ports, &payout).await?,
            Err(CommitError::Claimed { claim }) => return Ok(taken_over(*claim)),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// The step that follows from the result for the payout as it stands; a callback may have moved it since the request.
fn decide(payout: Payout, result: &UpstreamResult<UpstreamPayout>, now: Timestamp) -> Result<PayoutStep, PayoutError> {
    match (result, &payout.state) {
        (UpstreamResult::Known(upstream), _) => judge(payout, upstream, now),
        (UpstreamResult::Refused(reason), PayoutState::Pending { .. }) => payout.fail(why(Some(reason)), now),
        (UpstreamResult::NotTaken(_), PayoutState::Pending { .. }) => payout.abandon(now),
        (UpstreamResult::Unknown(_) | UpstreamResult::Unproven(_), PayoutState::Pending { .. }) => {
            payout.send(None, Recipient::default(), now)
        }
        // The acquirer has shown the payout meanwhile, which outweighs a refusal.
        (
            UpstreamResult::Refused(_)
            | UpstreamResult::NotTaken(_)
            | UpstreamResult::Unknown(_)
            | UpstreamResult::Unproven(_),
            PayoutState::Abandoned { .. }
            | PayoutState::Processing(_)
            | PayoutState::Completed { .. }
            | PayoutState::Failed { .. }
            | PayoutState::Reversed { .. },
        ) => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

fn logged(payout: &Payout, result: UpstreamResult<UpstreamPayout>) -> UpstreamResult<UpstreamPayout> {
    let acquirer = payout.state.acquirer();
    match &result {
        UpstreamResult::Known(_) => {}
        UpstreamResult::Refused(reason) => {
            tracing::info!(payout = %payout.id, %acquirer, reason, "payout refused by its acquirer; it fails");
        }
        UpstreamResult::NotTaken(reason) => {
            tracing::warn!(payout = %payout.id, %acquirer, reason, "payout not taken by its acquirer; it is abandoned");
        }
        UpstreamResult::Unknown(reason) | UpstreamResult::Unproven(reason) => {
            tracing::warn!(payout = %payout.id, %acquirer, reason, "payout outcome unknown after sending; it stays processing");
        }
    }
    result
}

fn taken_over(claim: Claim) -> Outcome {
    of_the_other(claim).map_or(Outcome::TakenOver, Outcome::Answered)
}

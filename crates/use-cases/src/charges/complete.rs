//! The second half of a charge's creation: ask upstream, then make the outcome and the answer true together.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, Issued, Step};
use cais_ports::{
    Acquirer, AcquirerError, ChangeSet, ChargeOrder, Claim, CommitError, IssueError, ReservationKey, UpstreamCharge,
    UpstreamStatus, Write,
};

use super::sync::{apply, reread};
use crate::answer::Answer;
use crate::idempotency::{RequestLease, of_the_other};
use crate::ports::Ports;
use crate::trouble::{DECISIONS, Trouble};

/// What upstream may take of the 10 s within which a POST answers; the rest is for two commits.
const UPSTREAM_BUDGET: Duration = Duration::from_secs(7);
/// The part of it that is kept for a look upstream, when a creation that is asked for again is refused.
const LOOK_BUDGET: Duration = Duration::from_secs(2);

/// A creation that is under way, and the right to finish it.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    /// The charge, in state `Creating`, or later when somebody else finished it.
    pub charge: Charge,
    /// The claim it is made under.
    pub holding: RequestLease,
    /// Whether its acquirer may have it already: then nobody else is asked.
    pub asked_before: bool,
}

/// How a creation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is there, and this is the answer from now on.
    Answered(Answer),
    /// Nobody took it; nothing of it is visible, and its external id is free again.
    Abandoned,
    /// An acquirer may have it; a worker or a repeat finds out.
    Unknown,
    /// Somebody else finishes it.
    TakenOver,
}

/// Asks upstream and commits the outcome.
pub(super) async fn complete(ports: &Ports, creation: Creation) -> Result<Outcome, Trouble> {
    if creation.charge.state.issued().is_some() {
        return answer(ports, creation).await;
    }
    let order = order(&creation.charge);
    let asked = creation.charge.state.acquirer().clone();
    let outcome = if creation.asked_before {
        ask_again(ports, &order, asked).await
    } else {
        ports.acquirers.issue(&order, &asked, UPSTREAM_BUDGET).await
    };
    match outcome {
        Ok((acquirer, upstream)) => issued(ports, creation, acquirer, upstream).await,
        Err(IssueError::NoneTook { reasons }) => {
            tracing::warn!(charge = %creation.charge.id, ?reasons, "no acquirer took the charge");
            give_up(ports, creation).await
        }
        Err(IssueError::Unknown { acquirer, reason }) => {
            tracing::warn!(charge = %creation.charge.id, %acquirer, reason, "it is not known whether the charge was made");
            leave(ports, creation, acquirer).await
        }
    }
}

/// Only the acquirer that was asked before may have it, so only that one can say that nobody has.
async fn ask_again(
    ports: &Ports,
    order: &ChargeOrder,
    asked: AcquirerName,
) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
    let Some(acquirer) = ports.acquirers.named(&asked) else {
        return Err(IssueError::Unknown { acquirer: asked, reason: "it is not configured any more".to_owned() });
    };
    match acquirer.create_charge(order, UPSTREAM_BUDGET.saturating_sub(LOOK_BUDGET)).await {
        Ok(upstream) => Ok((asked, upstream)),
        Err(error @ AcquirerError::Refused(_)) => refused_again(&*acquirer, order, asked, error).await,
        Err(AcquirerError::Unavailable(reason) | AcquirerError::OutcomeUnknown(reason)) => {
            Err(IssueError::Unknown { acquirer: asked, reason })
        }
    }
}

/// A refusal says nothing of the request before it, which may have made the charge: some refuse a txid that they have.
async fn refused_again(
    acquirer: &dyn Acquirer,
    order: &ChargeOrder,
    asked: AcquirerName,
    refusal: AcquirerError,
) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
    match acquirer.find_charge(&order.txid, LOOK_BUDGET).await {
        Ok(Some(upstream)) if upstream.amount == order.amount && upstream.copy_paste.is_some() => Ok((asked, upstream)),
        // One that is not what was ordered has a code that nobody has seen.
        Ok(Some(_) | None) => Err(IssueError::NoneTook { reasons: vec![(asked, refusal)] }),
        Err(error) => {
            Err(IssueError::Unknown { acquirer: asked, reason: format!("{refusal}; looking for it: {error}") })
        }
    }
}

async fn issued(
    ports: &Ports,
    mut creation: Creation,
    acquirer: AcquirerName,
    upstream: UpstreamCharge,
) -> Result<Outcome, Trouble> {
    let Some(copy_paste) = upstream.copy_paste.clone() else {
        return leave(ports, creation, acquirer).await;
    };
    let issued = Issued { acquirer: acquirer.clone(), copy_paste, expires_at: upstream.expires_at };
    for _ in 0..DECISIONS {
        if creation.charge.state.issued().is_some() {
            // A callback came before the reply, and its truth was read and applied.
            return answer(ports, creation).await;
        }
        let charge = match creation.charge.clone().issue(issued.clone())? {
            Step::Taken { charge, .. } | Step::AlreadyTaken(charge) => charge,
        };
        let body = ports.representation.charge(&charge);
        let mut change = ChangeSet::new(ports.clock.now());
        change.claim = Some(creation.holding.answers(201, body.clone()));
        change.writes.push(Write::UpdateCharge(Box::new(charge.clone())));
        match ports.store.commit(change).await {
            Ok(_) => {
                if !upstream.payments.is_empty() || upstream.status != UpstreamStatus::Active {
                    // Paid or removed before we learned that it exists; the answer stays what it was at its creation.
                    let read = Charge { version: charge.version.saturating_add(1), ..charge };
                    apply(ports, read, &acquirer, &upstream).await?;
                }
                return Ok(Outcome::Answered(Answer::fresh(201, body)));
            }
            Err(CommitError::Stale) => creation.charge = reread(ports, &creation.charge).await?,
            Err(CommitError::Claimed { claim }) => return Ok(taken_over(*claim)),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// The charge is there already: only the answer is missing.
async fn answer(ports: &Ports, creation: Creation) -> Result<Outcome, Trouble> {
    let body = ports.representation.charge(&creation.charge);
    let mut change = ChangeSet::new(ports.clock.now());
    change.claim = Some(creation.holding.answers(201, body.clone()));
    match ports.store.commit(change).await {
        Ok(_) => Ok(Outcome::Answered(Answer::fresh(201, body))),
        Err(CommitError::Claimed { claim }) => Ok(taken_over(*claim)),
        Err(error) => Err(error.into()),
    }
}

async fn give_up(ports: &Ports, creation: Creation) -> Result<Outcome, Trouble> {
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    change.claim = Some(creation.holding.releases());
    if let Some(external_id) = creation.charge.terms.external_id.clone() {
        change.unreserve.push(ReservationKey::ChargeExternalId(creation.charge.account, external_id));
    }
    if let Step::Taken { charge, .. } = creation.charge.clone().abandon(now)? {
        change.writes.push(Write::UpdateCharge(Box::new(charge)));
    }
    match ports.store.commit(change).await {
        Ok(_) => Ok(Outcome::Abandoned),
        Err(CommitError::Claimed { claim }) => Ok(taken_over(*claim)),
        Err(error) => Err(error.into()),
    }
}

async fn leave(ports: &Ports, creation: Creation, acquirer: AcquirerName) -> Result<Outcome, Trouble> {
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    change.claim = Some(creation.holding.postpones(now));
    if let Step::Taken { charge, .. } = creation.charge.clone().ask(acquirer)? {
        change.writes.push(Write::UpdateCharge(Box::new(charge)));
    }
    match ports.store.commit(change).await {
        Ok(_) => Ok(Outcome::Unknown),
        Err(CommitError::Claimed { claim }) => Ok(taken_over(*claim)),
        Err(error) => Err(error.into()),
    }
}

fn taken_over(claim: Claim) -> Outcome {
    of_the_other(claim).map_or(Outcome::TakenOver, Outcome::Answered)
}

fn order(charge: &Charge) -> ChargeOrder {
    ChargeOrder {
        txid: charge.txid.clone(),
        amount: charge.terms.amount,
        expires_in_s: charge.terms.expires_in_s,
        payer: charge.terms.payer().map(|(document, name)| (document, name.to_owned())),
        description: charge.terms.description.as_ref().map(|text| text.as_str().to_owned()),
    }
}

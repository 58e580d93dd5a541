//! The second half of a refund's creation: ask its acquirer, then make the outcome and the answer true together.

use std::time::Duration;

use cais_domain::refund::{Refund, RefundError, RefundState, RefundStatus, RefundStep};
use cais_ports::{Acquirer, AcquirerError, ChangeSet, CommitError, RefundOrder, ReservationKey, UpstreamReturn};
use jiff::Timestamp;

use super::ROUNDS;
use super::decide::{Word, change_set, charge_of, complain, decide, reread, stored, unless_outdated};
use super::sync::acquirer;
use crate::answer::Answer;
use crate::idempotency::{Holding, KeyInUse, of_the_other};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// What the acquirer may take to take the order, of the 10 s within which a POST answers.
const SEND_BUDGET: Duration = Duration::from_secs(5);
/// What it may take besides to say whether it has it, when its reply to the order was lost or is not ours to have.
const LOOK_BUDGET: Duration = Duration::from_secs(2);

/// A creation that is under way, and the right to finish it.
#[derive(Debug, Clone)]
pub(super) struct Creation {
    /// The refund, in state `Pending`, or later when somebody else learned its outcome.
    pub refund: Refund,
    /// The claim it is made under.
    pub holding: Holding,
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
    let word = match creation.refund.state.status() {
        RefundStatus::Pending => ask(ports, &creation.refund, creation.asked_before, creation.holding.until).await,
        // Somebody learned its outcome before its creation was finished: only the answer is missing.
        RefundStatus::Abandoned | RefundStatus::Processing | RefundStatus::Completed | RefundStatus::Failed => {
            Word::Open
        }
    };
    for _ in 0..ROUNDS {
        match commit(ports, &creation, &word).await? {
            Some(outcome) => return Ok(outcome),
            None => creation.refund = reread(ports, &creation.refund).await?,
        }
    }
    Err(Trouble::contended())
}

/// One attempt at the second commit; `None` when the refund or its charge was changed meanwhile.
async fn commit(ports: &Ports, creation: &Creation, word: &Word) -> Result<Option<Outcome>, Trouble> {
    let charge = charge_of(ports, &creation.refund).await?;
    let now = ports.clock.now();
    let (refund, mut change) = match decide(creation.refund.clone(), charge, word, now) {
        Ok(RefundStep::Taken(step)) => {
            let change = change_set(ports, &step, now).await?;
            (step.refund, change)
        }
        Ok(RefundStep::AlreadyTaken(refund)) => (*refund, ChangeSet::new(now)),
        // Its outcome was learned before the reply came: that is the answer.
        Err(RefundError::InvalidState(_)) => {
            complain(&creation.refund, word);
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

/// Sends the order and finds out what became of it.
///
/// A refusal and a certain failure prove that nothing was taken only while the acquirer was never asked before. Afterwards
/// the first order may still arrive: then the outcome stays open, and is asked for until it is known.
async fn ask(ports: &Ports, refund: &Refund, asked_before: bool, until: Timestamp) -> Word {
    let acquirer = match acquirer(ports, refund) {
        Ok(acquirer) => acquirer,
        Err(error) => return after_failure(refund, error, asked_before),
    };
    if asked_before {
        match find(&*acquirer, refund).await {
            Ok(None) => {}
            Ok(Some(word)) => return word,
            Err(error) => return after_failure(refund, error, asked_before),
        }
    }
    match send(ports, &*acquirer, refund, until).await {
        Ok(upstream) => Word::heard(refund, upstream),
        Err(error @ AcquirerError::OutcomeUnknown(_)) => match find(&*acquirer, refund).await {
            Ok(Some(word)) => word,
            Ok(None) | Err(_) => after_failure(refund, error, asked_before),
        },
        Err(error) => after_failure(refund, error, asked_before),
    }
}

async fn find(acquirer: &dyn Acquirer, refund: &Refund) -> Result<Option<Word>, AcquirerError> {
    let found = acquirer.find_refund(&refund.end_to_end_id, refund.id, LOOK_BUDGET).await?;
    Ok(found.map(|upstream| Word::heard(refund, upstream)))
}

fn after_failure(refund: &Refund, error: AcquirerError, asked_before: bool) -> Word {
    tracing::warn!(refund = %refund.id, acquirer = %refund.acquirer, %error, asked_before, "the acquirer did not confirm a refund");
    match error {
        AcquirerError::Refused(reason) if !asked_before => Word::Refused(reason),
        AcquirerError::Unavailable(_) if !asked_before => Word::NotTaken,
        AcquirerError::Refused(_) | AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_) => Word::Open,
    }
}

/// Sends the order, unless `until` is over: then others count on nothing being sent any more by whoever asks.
pub(super) async fn send(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    refund: &Refund,
    until: Timestamp,
) -> Result<UpstreamReturn, AcquirerError> {
    if ports.clock.now() >= until {
        return Err(AcquirerError::OutcomeUnknown("the process slept until it was too late to send".to_owned()));
    }
    acquirer.send_refund(&order(refund), SEND_BUDGET).await
}

fn order(refund: &Refund) -> RefundOrder {
    RefundOrder {
        id: refund.id,
        end_to_end_id: refund.end_to_end_id.clone(),
        amount: refund.amount,
        description: refund.reason.as_ref().map(|text| text.as_str().to_owned()),
    }
}

/// The merchant's name for it, as it is reserved.
pub(super) fn external_id_key(refund: &Refund) -> Option<ReservationKey> {
    let external_id = refund.external_id.clone()?;
    Some(ReservationKey::RefundExternalId(refund.account, external_id))
}

/// The creation that follows a first commit: the refund was written once more.
pub(super) fn under_way(refund: Refund, holding: Holding, asked_before: bool) -> Creation {
    Creation { refund: stored(refund), holding, asked_before }
}

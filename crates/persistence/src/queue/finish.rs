//! Stores finished attempts. The outcome of an attempt is applied if its claim is still valid.

use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::{AttemptOutcome, FinishedAttempt, Health, alerts};
use jiff::Timestamp;

use super::health;
use super::link::Work;
use crate::error::Fault;

/// The effect of an attempt on its delivery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome<'a> {
    /// The attempt.
    pub(crate) finished: &'a FinishedAttempt,
    /// The next status of the delivery. If its queue has ended, the delivery is cancelled instead.
    pub(crate) status: DeliveryStatus,
    /// The next due time; `None` if the attempt ends the delivery.
    pub(crate) due_at: Option<Timestamp>,
}

impl<'a> Outcome<'a> {
    fn new(finished: &'a FinishedAttempt) -> Self {
        let (status, due_at) = match finished.outcome {
            AttemptOutcome::Succeeded => (DeliveryStatus::Succeeded, None),
            AttemptOutcome::Failed => (DeliveryStatus::Failed, None),
            AttemptOutcome::Retry { due_at } => (DeliveryStatus::Pending, Some(due_at)),
        };
        Self { finished, status, due_at }
    }
}

/// Finishes all attempts in one transaction. If the database refuses them, finishes each attempt singly, so that one invalid attempt does
/// not affect the others.
pub(super) fn finish(work: &mut Work<'_>, finished: &[FinishedAttempt]) -> Result<(), Fault> {
    match together(work, finished) {
        Err(fault @ (Fault::Refused(_) | Fault::Corrupt(_))) if finished.len() > 1 => {
            tracing::warn!(%fault, size = finished.len(), "outcomes of deliveries refused by the database; they are stored one by one");
            for one in finished {
                match together(work, std::slice::from_ref(one)) {
                    Err(fault @ (Fault::Refused(_) | Fault::Corrupt(_))) => {
                        tracing::error!(alert = alerts::RECORD_UNREADABLE, %fault, delivery = %one.key.id, "outcome of a delivery cannot be stored; the delivery is sent again");
                    }
                    done => done?,
                }
            }
            Ok(())
        }
        done => done,
    }
}

fn together(work: &mut Work<'_>, finished: &[FinishedAttempt]) -> Result<(), Fault> {
    let engine = work.engine();
    let outcomes: Vec<Outcome<'_>> = finished.iter().map(Outcome::new).collect();
    if outcomes.is_empty() {
        return Ok(());
    }
    if engine.finishes_alone() && finished.iter().all(|one| one.health == Health::Unchanged) {
        return work.session(|session| engine.finish(session, &outcomes).map(drop));
    }
    work.transaction(|session| {
        let mut standing = engine.finish(session, &outcomes)?;
        standing.sort_unstable();
        let counted = standing.into_iter().filter_map(|place| finished.get(place));
        let changes = health::changes(counted);
        engine.apply(session, &health::ops(&changes)).map(drop)
    })
}

//! Making a payout agree with what its acquirer says of it: the only place where upstream's truth becomes ours.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::ledger::Transfer;
use cais_domain::payout::{Payout, PayoutError, PayoutState, PayoutStep, Recipient};
use cais_ports::{
    AcquirerError, ChangeSet, CommitError, NewEvent, Reservation, ReservationKey, ReturnedPart, UpstreamPayout,
    UpstreamProgress, Write,
};
use jiff::Timestamp;

use super::upstream::adapter;
use crate::ports::Ports;
use crate::trouble::{DECISIONS, Trouble};

/// The longest text of upstream that is kept, in characters.
const MAX_TEXT: usize = 200;
/// The reason of a failure whose acquirer gives none.
const NO_REASON: &str = "the institution of the recipient did not take it";

/// Why a payout could not be made to agree with upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// Upstream has no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The acquirer does not know the payout, or not yet.
    #[error("the acquirer does not know the payout")]
    Unknown,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Reads the truth at the payout's acquirer and applies it.
pub(crate) async fn refresh(ports: &Ports, payout: Payout, budget: Duration) -> Result<Payout, SyncError> {
    let upstream = adapter(ports, &payout)?.find_payout(&payout.id_envio(), budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, payout, &upstream).await?)
}

/// Applies what the payout's acquirer says of it: its outcome first, then every part that came back, each once.
pub(crate) async fn apply(ports: &Ports, payout: Payout, upstream: &UpstreamPayout) -> Result<Payout, Trouble> {
    if !agrees(&payout, upstream) {
        return Ok(payout);
    }
    let mut payout = follow(ports, payout, upstream).await?;
    for part in &upstream.returned {
        payout = take_back(ports, payout, part).await?;
    }
    Ok(payout)
}

/// Whether upstream speaks of the payout as it was ordered; if not, nothing of it is believed and an operator is told.
pub(super) fn agrees(payout: &Payout, upstream: &UpstreamPayout) -> bool {
    let agrees = upstream.amount == payout.terms.amount && upstream.id_envio == payout.id_envio();
    if !agrees {
        tracing::error!(
            payout = %payout.id, acquirer = %payout.state.acquirer(), ours = %payout.terms.amount, theirs = %upstream.amount,
            id_envio = %upstream.id_envio, "the acquirer has the payout with another amount or name: nothing of it is believed"
        );
    }
    agrees
}

async fn follow(ports: &Ports, mut payout: Payout, upstream: &UpstreamPayout) -> Result<Payout, Trouble> {
    for _ in 0..DECISIONS {
        let step = judge(payout.clone(), upstream, ports.clock.now())?;
        match commit_step(ports, step, None).await {
            Ok(moved) => return Ok(moved),
            Err(CommitError::Stale) => payout = reread(ports, &payout).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// What follows from upstream's word on the payout as it stands. One that was being sent never stays so.
///
/// An outcome is never taken back: what contradicts it is told to an operator, and shown by the reconciliation.
pub(super) fn judge(payout: Payout, upstream: &UpstreamPayout, now: Timestamp) -> Result<PayoutStep, PayoutError> {
    let recipient = Recipient {
        name: upstream.recipient.name.as_deref().map(plain).filter(|name| !name.is_empty()),
        document: upstream.recipient.document.as_deref().map(plain).filter(|document| !document.is_empty()),
    };
    let end_to_end_id = upstream.end_to_end_id.clone().or_else(|| payout.state.end_to_end_id().cloned());
    match (&payout.state, progress(upstream)) {
        (PayoutState::Pending { .. } | PayoutState::Processing(_), progress) => match (progress, end_to_end_id) {
            (UpstreamProgress::Done { at }, Some(id)) => payout.complete(id, recipient, at.unwrap_or(now)),
            (UpstreamProgress::Failed { reason }, _) => payout.fail(why(reason.as_deref()), now),
            // A Pix that arrived has a name; until it is told, that it arrived is not known for certain.
            (UpstreamProgress::Processing | UpstreamProgress::Done { .. }, id) => payout.send(id, recipient, now),
        },
        (PayoutState::Completed { .. } | PayoutState::Reversed { .. }, UpstreamProgress::Failed { .. })
        | (PayoutState::Failed { .. } | PayoutState::Abandoned { .. }, UpstreamProgress::Done { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Processing) => {
            tracing::error!(
                payout = %payout.id, acquirer = %payout.state.acquirer(), ours = payout.state.status().as_str(),
                theirs = ?upstream.progress, "the acquirer contradicts the outcome of the payout: settle it with the merchant"
            );
            Ok(PayoutStep::AlreadyTaken(payout))
        }
        // What was read before the outcome and judged after it.
        (
            PayoutState::Completed { .. } | PayoutState::Reversed { .. },
            UpstreamProgress::Processing | UpstreamProgress::Done { .. },
        )
        | (PayoutState::Failed { .. }, UpstreamProgress::Processing | UpstreamProgress::Failed { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Failed { .. }) => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

/// How far it has come: what came back had arrived.
fn progress(upstream: &UpstreamPayout) -> UpstreamProgress {
    match (&upstream.progress, upstream.returned.first()) {
        (UpstreamProgress::Processing, Some(part)) => UpstreamProgress::Done { at: Some(part.at) },
        (progress, _) => progress.clone(),
    }
}

/// Credits a part that came back, unless it was credited before.
async fn take_back(ports: &Ports, mut payout: Payout, part: &ReturnedPart) -> Result<Payout, Trouble> {
    let key = ReservationKey::ReturnId(part.return_id.clone());
    let owner = payout.id.to_string();
    for _ in 0..DECISIONS {
        if let Some(by) = ports.queries.find_owner(&key).await? {
            if by != owner {
                tracing::error!(payout = owner, by, return_id = %part.return_id, "a return is told of two payouts: it was credited to the other");
            }
            return Ok(payout);
        }
        let step = match payout.clone().take_back(part.amount, part.at) {
            Ok(step) => step,
            Err(error) => {
                tracing::error!(
                    payout = owner, return_id = %part.return_id, amount = %part.amount, %error,
                    "what came back of the payout cannot be credited: settle it with the merchant"
                );
                return Ok(payout);
            }
        };
        let reservation = Reservation { key: key.clone(), account: payout.account, owner: owner.clone() };
        match commit_step(ports, step, Some(reservation)).await {
            Ok(moved) => return Ok(moved),
            // Somebody else has credited it, or moved the payout otherwise.
            Err(CommitError::Taken { .. } | CommitError::Stale) => payout = reread(ports, &payout).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// Makes a step true, with the value that it takes, and returns the payout as it is stored then.
pub(super) async fn commit_step(
    ports: &Ports,
    step: PayoutStep,
    reservation: Option<Reservation>,
) -> Result<Payout, CommitError> {
    let (payout, transfers, event) = match step {
        PayoutStep::AlreadyTaken(payout) => return Ok(payout),
        PayoutStep::Taken { payout, transfers, event } => (payout, transfers, event),
    };
    let mut change = ChangeSet::new(ports.clock.now());
    change.reserve.extend(reservation);
    record(ports, &mut change, &payout, transfers, event);
    ports.store.commit(change).await?;
    Ok(stored(payout))
}

/// Writes a step into a change set.
pub(super) fn record(
    ports: &Ports,
    change: &mut ChangeSet,
    payout: &Payout,
    transfers: Vec<Transfer>,
    event: Option<EventType>,
) {
    change.writes.push(Write::UpdatePayout(Box::new(payout.clone())));
    change.transfers.extend(transfers);
    change.events.extend(event.map(|kind| NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: payout.account,
        kind,
        at: change.at,
        resource: payout.id.to_string(),
        data: ports.representation.payout(payout),
    }));
}

/// The payout as the store has it after a change of it became true.
pub(super) fn stored(payout: Payout) -> Payout {
    Payout { version: payout.version.saturating_add(1), ..payout }
}

pub(super) async fn reread(ports: &Ports, payout: &Payout) -> Result<Payout, Trouble> {
    let found = ports.queries.find_payout(payout.account, payout.id).await?;
    found.ok_or_else(|| Trouble::Internal(format!("{} vanished", payout.id)))
}

/// Text of upstream as it can be kept and shown: bounded, without control characters, which stores refuse.
pub(crate) fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(MAX_TEXT).collect();
    kept.trim().to_owned()
}

/// Why a payout failed, as a merchant may read it.
pub(super) fn why(reason: Option<&str>) -> String {
    let reason = reason.map(plain).unwrap_or_default();
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}

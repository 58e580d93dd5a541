//! Stores the steps of a defense: its submission before it is sent, its arrival, and its withdrawal.

use cais_domain::infraction::{Defense, Infraction, InfractionState, InfractionStep};
use cais_ports::{CommitError, DefenseOrder};
use jiff::Timestamp;

use super::changes::commit;
use super::reconcile_status::awaits_receipt;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::StoredRecord as _;

/// Returns the request that submits the defense to the acquirer. Returns `None` if the infraction has no defense, or if
/// its text is unknown.
pub(super) fn order(infraction: &Infraction) -> Option<DefenseOrder> {
    let defense = infraction.defense.as_ref()?;
    let text = defense.text.as_ref()?.as_str().to_owned();
    let evidence_url = defense.evidence_url.as_ref().map(|url| url.as_str().to_owned());
    Some(DefenseOrder { infraction: infraction.upstream_id.clone(), text, evidence_url })
}

/// Stores the arrival of the defense. An infraction that is no longer open stays unchanged.
pub(super) async fn note_receipt(ports: &Ports, sent: &Infraction) -> Result<Infraction, StoreError> {
    let mut infraction = sent.clone();
    for _ in 0..MAX_COMMIT_RETRIES {
        if infraction.state != InfractionState::Open {
            return Ok(infraction);
        }
        let now = ports.clock.now();
        let ours = sent.defense.clone().map(|defense| Defense { submitted_at: Some(now), ..defense });
        let step = infraction.clone().review(ours, now)?;
        match commit(ports, step, now).await {
            Ok(reviewed) => return Ok(reviewed),
            Err(CommitError::Stale) => infraction = infraction.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Withdraws a defense that the acquirer certainly does not have. Has no effect if the defense was sent again
/// meanwhile, or if the infraction no longer waits for its arrival.
pub(super) async fn withdraw(ports: &Ports, sent: &Infraction) -> Result<Infraction, StoreError> {
    let mut infraction = sent.clone();
    for _ in 0..MAX_COMMIT_RETRIES {
        if !awaits_receipt(&infraction) || sent_at(&infraction) != sent_at(sent) {
            return Ok(infraction);
        }
        let step = infraction.clone().withdraw_defense()?;
        match commit(ports, step, ports.clock.now()).await {
            Ok(withdrawn) => return Ok(withdrawn),
            Err(CommitError::Stale) => infraction = infraction.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

fn sent_at(infraction: &Infraction) -> Option<Timestamp> {
    infraction.defense.as_ref().map(|defense| defense.sent_at)
}

/// Stores the defense before it is sent. Returns `None` if another process changed the infraction.
pub(super) async fn about_to_send(
    ports: &Ports,
    step: InfractionStep,
    now: Timestamp,
) -> Result<Option<Infraction>, StoreError> {
    match commit(ports, step, now).await {
        Ok(infraction) => Ok(Some(infraction)),
        Err(CommitError::Stale) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

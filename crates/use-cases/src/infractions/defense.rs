//! Sends a defense to its acquirer and stores the result.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::infraction::{Defense, Infraction, InfractionState, InfractionStep};
use cais_ports::{
    Acquirer, AcquirerError, CommitError, DefenseOrder, DefenseReceipt, UpstreamInfraction, UpstreamInfractionStatus,
};
use jiff::Timestamp;

use super::changes::{commit, reread};
use super::fetch::{ReadDeadline, fetch_upstream};
use super::reconcile_status::{awaits_receipt, shows_a_defense};
use super::sync::adapter;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::OrderReads;
use crate::upstream_result::Evidence;

/// The time for sending. The API answers a POST within 10 s.
const SEND_BUDGET: Duration = Duration::from_secs(5);

/// Returns the order for the acquirer. Returns `None` if the infraction has no defense text of this service.
pub(super) fn order(infraction: &Infraction) -> Option<DefenseOrder> {
    let defense = infraction.defense.as_ref()?;
    let text = defense.text.as_ref()?.as_str().to_owned();
    let evidence_url = defense.evidence_url.as_ref().map(|url| url.as_str().to_owned());
    Some(DefenseOrder { infraction: infraction.upstream_id.clone(), text, evidence_url })
}

/// Returns the acquirer of the infraction.
pub(super) fn acquirer(ports: &Ports, infraction: &Infraction) -> Result<Arc<dyn Acquirer>, AcquirerError> {
    adapter(ports, &infraction.acquirer)
}

/// Sends the defense, unless `until` has passed. Other nodes rely on this limit: after `until`, this node sends no
/// further request.
pub(super) async fn send(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    infraction: &Infraction,
    until: Timestamp,
) -> Result<DefenseReceipt, AcquirerError> {
    let Some(order) = order(infraction) else {
        return Err(AcquirerError::OutcomeUnknown("the infraction has no defense to send".to_owned()));
    };
    if ports.clock.now() >= until {
        return Err(AcquirerError::OutcomeUnknown("the process was suspended beyond the time for sending".to_owned()));
    }
    acquirer.send_defense(&order, SEND_BUDGET).await
}

/// A defense that was sent. Acquirers assign no id to a defense, so the look-up searches for the infraction.
pub(super) struct SentDefense<'a> {
    pub(super) ports: &'a Ports,
    pub(super) acquirer: &'a dyn Acquirer,
    pub(super) infraction: &'a Infraction,
    /// The limits of the look-up.
    pub(super) deadline: ReadDeadline,
    /// `true` if an earlier request may have delivered a defense.
    pub(super) may_have_arrived: bool,
}

impl OrderReads for SentDefense<'_> {
    type Record = UpstreamInfraction;

    /// Reads the list, because acquirers show infractions only in lists. If the list does not contain the infraction,
    /// the outcome stays unknown.
    async fn look_up(&self) -> Evidence<UpstreamInfraction> {
        let Infraction { upstream_id, opened_at, .. } = self.infraction;
        match fetch_upstream(self.acquirer, upstream_id, Some(*opened_at), self.ports.clock.now(), self.deadline).await
        {
            Ok(Some(upstream)) if shows_a_defense(&upstream) => Evidence::Found(upstream),
            Ok(Some(upstream)) if self.may_have_arrived && upstream.status == UpstreamInfractionStatus::Undecided => {
                Evidence::Unreadable("the acquirer does not show defenses".to_owned())
            }
            Ok(Some(_)) => Evidence::Absent,
            Ok(None) => Evidence::Unreadable("the acquirer does not list the infraction".to_owned()),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// The look-up has already read the list. The infraction's record in the list shows no defense.
    async fn list(&self) -> Evidence<UpstreamInfraction> {
        Evidence::Absent
    }
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
            Err(CommitError::Stale) => infraction = reread(ports, &infraction).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Withdraws a defense that the acquirer certainly does not have. Has no effect if the defense was sent again or its
/// state changed meanwhile.
pub(super) async fn withdraw(ports: &Ports, sent: &Infraction) -> Result<Infraction, StoreError> {
    let mut infraction = sent.clone();
    for _ in 0..MAX_COMMIT_RETRIES {
        if !awaits_receipt(&infraction) || sent_at(&infraction) != sent_at(sent) {
            return Ok(infraction);
        }
        let step = infraction.clone().withdraw_defense()?;
        match commit(ports, step, ports.clock.now()).await {
            Ok(withdrawn) => return Ok(withdrawn),
            Err(CommitError::Stale) => infraction = reread(ports, &infraction).await?,
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

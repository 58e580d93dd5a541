//! Alerts for infractions that have no defense and whose deadline is near.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{ALERT_HOURS, Infraction};
use cais_ports::{CommitError, alerts};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::upstream_order::commit_update;
use crate::work::WorkError;

/// The largest number of infractions that one pass reads, the nearest deadlines first. The number is large because many
/// infractions can have the same deadline, the end of a day.
const MAX_READ: u32 = 10_000;
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// An alert that was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert {
    /// The infraction.
    pub infraction: InfractionId,
    /// The value of [`ALERT_HOURS`] that was reached. At most this number of hours is left.
    pub hours: u8,
}

/// Raises each due alert once. Only one node raises it.
///
/// # Errors
/// [`WorkError`] if the near deadlines cannot be read. A failure of one infraction is logged and does not stop the
/// others.
pub async fn run_once(ports: &Ports) -> Result<Vec<Alert>, WorkError> {
    let now = ports.clock.now();
    let widest =
        ALERT_HOURS.into_iter().max().map_or(SignedDuration::ZERO, |hours| SignedDuration::from_hours(hours.into()));
    // The query excludes the end of its period, so one second is added.
    let until = now.saturating_add(widest).and_then(|until| until.saturating_add(SECOND)).unwrap_or(Timestamp::MAX);
    let near = ports.queries.list_undefended(now, until, MAX_READ).await?;
    let mut raised = Vec::new();
    for infraction in near {
        raised.extend(alert_deadline(ports, infraction, now).await);
    }
    Ok(raised)
}

async fn alert_deadline(ports: &Ports, infraction: Infraction, now: Timestamp) -> Option<Alert> {
    let id = infraction.id;
    let (alerted, hours) = infraction.alert(now)?;
    match commit_update(ports, alerted).await {
        Ok(infraction) => {
            let deadline_at = infraction.deadline_at.map(|at| at.to_string()).unwrap_or_default();
            tracing::warn!(
                alert = alerts::INFRACTION_UNDEFENDED, infraction = %infraction.id, account = %infraction.account, charge = %infraction.charge,
                amount = %infraction.amount, hours, deadline_at, "infraction has no defense, and the deadline is near"
            );
            Some(Alert { infraction: infraction.id, hours })
        }
        // The infraction changed, or another node raised the alert.
        Err(CommitError::Stale) => None,
        Err(error) => {
            tracing::warn!(infraction = %id, %error, "alert of an infraction could not be stored; the next run tries again");
            None
        }
    }
}

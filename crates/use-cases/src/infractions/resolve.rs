//! An operator's decision on an infraction that is marked for review.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionChange, InfractionState, InfractionStatus, InfractionStep};
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, CommitError, Operator};
use jiff::Timestamp;

use super::changes::change_set;
use super::dispute_context::DisputeContext;
use super::review::contested;
use super::sync::{alert_shortfall, held};
use crate::audit::{self, AuditedChange, escaped};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// An operator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The dispute was rejected.
    Won,
    /// The dispute was accepted and the amount was returned. `None` stands for the whole contested amount.
    Lost(Option<Money>),
    /// The dispute was withdrawn.
    Cancelled,
}

/// The reason why an infraction was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No infraction has the id.
    #[error("the infraction {0} does not exist")]
    NotFound(InfractionId),
    /// The infraction is not marked for review: the acquirer's record decides it.
    #[error("the infraction is {} and not marked for review: {}", .0.as_str(), if .0.is_open() { "its acquirer decides it" } else { "it is resolved" })]
    NotMarked(InfractionStatus),
    /// The amount is above the contested amount.
    #[error("the lost amount {lost} is above the contested amount {contested}")]
    TooMuch {
        /// The amount of the decision.
        lost: Money,
        /// The largest possible amount.
        contested: Money,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Ends the infraction as the operator decided. The same commit writes a row of the audit log. Returns the stored
/// infraction.
///
/// # Errors
/// [`ResolveError`].
pub async fn resolve(
    ports: &Ports,
    operator: &Operator,
    id: InfractionId,
    (decision, note): (Decision, &Text),
) -> Result<Infraction, ResolveError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let found = ports.queries.find_infraction_of_any(id).await.map_err(StoreError::from)?;
        let found = found.ok_or(ResolveError::NotFound(id))?;
        let case = DisputeContext::of(ports, &found).await?;
        let infraction = case.infraction(id)?;
        if !infraction.needs_review() {
            return Err(ResolveError::NotMarked(infraction.state.status()));
        }
        let (held, now) = (held(ports, &infraction).await?, ports.clock.now());
        let ended = match decision {
            Decision::Won => infraction.clone().win(case.disputed(), held, now),
            Decision::Cancelled => infraction.clone().cancel(case.disputed(), held, now),
            Decision::Lost(amount) => {
                let contested = contested(&case, infraction.amount)?;
                let lost = amount.unwrap_or(contested);
                if lost > contested {
                    return Err(ResolveError::TooMuch { lost, contested });
                }
                // The acquirer has returned this money, so the other infractions on the Pix can no longer block it.
                if lost > infraction.limit
                    && let InfractionStep::Taken(step) =
                        infraction.clone().claim_first(None, case.disputed()).map_err(StoreError::from)?
                {
                    let change = audited(ports, operator, ("infraction.claim", note), (&infraction, &step), now);
                    match ports.store.commit(change).await {
                        Ok(_) | Err(CommitError::Stale) => continue,
                        Err(error) => return Err(StoreError::from(error).into()),
                    }
                }
                infraction.clone().lose_at_most(case.disputed(), (held, lost), now)
            }
        };
        let InfractionStep::Taken(step) = ended.map_err(StoreError::from)? else { continue };
        let change = audited(ports, operator, ("infraction.resolve", note), (&infraction, &step), now);
        match ports.store.commit(change).await {
            Ok(_) => {
                let after = step.infraction;
                if let InfractionState::Lost { .. } = after.state {
                    alert_shortfall(&after, held);
                }
                return Ok(Infraction { version: after.version.saturating_add(1), ..after });
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the changes of a step, together with a row of the audit log.
fn audited(
    ports: &Ports,
    operator: &Operator,
    (action, note): (&'static str, &Text),
    (before, step): (&Infraction, &InfractionChange),
    now: Timestamp,
) -> ChangeSet {
    let mut change = change_set(ports, step, now);
    let audited = AuditedChange {
        action,
        subject: before.id.to_string(),
        account: Some(before.account),
        before: Some(record(before, None)),
        after: Some(record(&step.infraction, Some(note))),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    change
}

/// Returns the fields that a decision changes, as JSON.
fn record(infraction: &Infraction, note: Option<&Text>) -> Vec<u8> {
    let reason = infraction.review.map_or("", |review| review.reason.as_str());
    let returned = match &infraction.state {
        InfractionState::Lost { returned, .. } => *returned,
        InfractionState::Open
        | InfractionState::UnderReview { .. }
        | InfractionState::Won { .. }
        | InfractionState::Cancelled { .. } => Money::ZERO,
    };
    let status = infraction.state.status().as_str();
    let note = note.map(|note| format!(r#","note":"{}""#, escaped(note.as_str()))).unwrap_or_default();
    format!(r#"{{"status":"{status}","review_reason":"{reason}","returned":{returned}{note}}}"#).into_bytes()
}

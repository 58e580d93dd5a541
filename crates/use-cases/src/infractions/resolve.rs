//! An operator's decision on an infraction that is marked for review.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionChange, InfractionState, InfractionStatus, InfractionStep};
use cais_domain::money::Money;
pub use cais_domain::review_decision::InfractionDecision as Decision;
use cais_domain::text::Text;
use cais_ports::{Actor, ChangeSet, CommitError};
use jiff::Timestamp;

use super::changes::change_set;
use super::dispute_context::DisputeContext;
use super::review::contested;
use super::sync::{alert_shortfall, held};
use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::StoredRecord as _;

/// The reason why an infraction was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No infraction has the id.
    #[error("the infraction {0} does not exist")]
    NotFound(InfractionId),
    /// The infraction is not marked for review: its acquirer decides it, or it is resolved.
    #[error("the infraction is {} and not marked for review: {}", .0.as_str(), if .0.is_open() { "its acquirer decides it" } else { "it is resolved" })]
    NotMarked(InfractionStatus),
    /// The infraction has changed since the operator saw it.
    #[error("the infraction has changed since it was shown")]
    Changed,
    /// The decided amount is above the largest amount that the infraction can take from the account.
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

/// An infraction after the decision on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The infraction, with the version before the commit.
    pub infraction: Infraction,
    /// The amount that the infraction blocked before the decision.
    held: Money,
}

impl Resolved {
    /// Raises an alert if less money was blocked than the lost infraction requires. Must be called after the commit.
    pub(crate) fn alert(&self) {
        if let InfractionState::Lost { .. } = self.infraction.state {
            alert_shortfall(&self.infraction, self.held);
        }
    }
}

/// Ends the infraction as the operator decided. The same commit writes a row of the audit log. Returns the stored
/// infraction.
///
/// # Errors
/// [`ResolveError`].
pub async fn resolve(
    ports: &Ports,
    operator: &Actor,
    id: InfractionId,
    (decision, note): (Decision, &Text),
) -> Result<Infraction, ResolveError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let (resolved, change) = prepare(ports, operator, (id, None), (decision, note)).await?;
        match ports.store.commit(change).await {
            Ok(_) => {
                resolved.alert();
                return Ok(resolved.infraction.stored());
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the infraction after the decision, and the changes with a row of the audit log.
///
/// `seen` is the version that the operator saw; `None` accepts any version. If the other infractions on the Pix hold
/// money that this infraction needs, an earlier, separate commit moves that money to this infraction.
///
/// # Errors
/// [`ResolveError`].
pub(crate) async fn prepare(
    ports: &Ports,
    operator: &Actor,
    (id, mut seen): (InfractionId, Option<i64>),
    (decision, note): (Decision, &Text),
) -> Result<(Resolved, ChangeSet), ResolveError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let found = ports.queries.find_infraction_of_any(id).await.map_err(StoreError::from)?;
        let found = found.ok_or(ResolveError::NotFound(id))?;
        let case = DisputeContext::of(ports, &found).await?;
        let infraction = case.infraction(id)?;
        if !infraction.needs_review() {
            return Err(ResolveError::NotMarked(infraction.state.status()));
        }
        if seen.is_some_and(|seen| seen != infraction.version) {
            return Err(ResolveError::Changed);
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
                // The acquirer has returned `lost` to the payer, so the other infractions on the Pix can no longer
                // block this money.
                if lost > infraction.limit
                    && let InfractionStep::Taken(step) =
                        infraction.clone().take_precedence(None, case.disputed()).map_err(StoreError::from)?
                {
                    let change =
                        audited(ports, operator, ("infraction.take_precedence", note), (&infraction, &step), now);
                    match ports.store.commit(change).await {
                        Ok(_) => {
                            seen = seen.map(|seen| seen.saturating_add(1));
                            continue;
                        }
                        Err(CommitError::Stale) => continue,
                        Err(error) => return Err(StoreError::from(error).into()),
                    }
                }
                infraction.clone().lose_at_most(case.disputed(), (held, lost), now)
            }
        };
        let InfractionStep::Taken(step) = ended.map_err(StoreError::from)? else { continue };
        let change = audited(ports, operator, ("infraction.resolve", note), (&infraction, &step), now);
        return Ok((Resolved { infraction: step.infraction, held }, change));
    }
    Err(StoreError::contended().into())
}

/// Returns the changes of a step, together with a row of the audit log.
fn audited(
    ports: &Ports,
    operator: &Actor,
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

/// Returns the fields that a decision changes, as JSON for the audit log.
fn record(infraction: &Infraction, note: Option<&Text>) -> Vec<u8> {
    let reason = infraction.review.map_or("", |review| review.reason.as_str());
    let returned = match &infraction.state {
        InfractionState::Lost { returned, .. } => *returned,
        InfractionState::Open
        | InfractionState::UnderReview { .. }
        | InfractionState::Won { .. }
        | InfractionState::Cancelled { .. } => Money::ZERO,
    };
    Fields::new()
        .text("status", infraction.state.status().as_str())
        .text("review_reason", reason)
        .money("returned", returned)
        .optional_text("note", note)
        .into_json()
}

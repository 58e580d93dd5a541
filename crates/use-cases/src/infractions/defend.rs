//! Defends against an infraction. The first commit stores the defense, then the acquirer receives it. A second commit
//! stores the result.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionError, InfractionState, InfractionStatus, InfractionStep};
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_domain::text::Text;

use super::defense::{about_to_send, note_receipt, withdraw};
use super::fetch::REQUEST_DEADLINE;
use super::order::{DEADLINE_PASSED, DefenseRecord, find_upstream};
use super::reconcile_status::{awaits_receipt, shows_a_defense};
use super::sync::{SyncError, apply};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, RETRY_AFTER_S, StoreError};
use crate::upstream_order::{StoredRecord as _, UpstreamOrder as _, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

/// The reason why a defense was not submitted, or why its arrival is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefendError {
    /// The account is not permitted to defend.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no such infraction.
    #[error("the infraction does not exist")]
    NotFound,
    /// The status of the infraction does not allow a defense.
    #[error("the infraction is {}", .0.as_str())]
    InvalidState(InfractionStatus),
    /// The infraction already has another defense, and only one is possible. The value is the status of the infraction.
    #[error("the infraction is {} and has a defense", .0.as_str())]
    Defended(InfractionStatus),
    /// The deadline has passed by the local clock, or the acquirer reports that it has passed.
    #[error("the infraction can no longer be defended")]
    TooLate,
    /// The acquirer permanently refuses this defense. The defense is deleted, and another one can be submitted.
    #[error("the acquirer refuses the defense: {0}")]
    Refused(String),
    /// The acquirer certainly did not receive the defense. The defense is deleted, and a later attempt can succeed.
    #[error("the acquirer did not accept the defense")]
    AcquirerUnavailable,
    /// The defense may have arrived. A worker checks this, and sends the defense again if necessary. If the caller
    /// submits the same defense again, only its outcome is read.
    #[error("the outcome of the defense is still unknown")]
    Unknown {
        /// Seconds until the caller should repeat the request.
        retry_after_s: u32,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The content of a merchant's defense.
struct DefenseText {
    text: Text,
    evidence_url: Option<Text>,
}

/// Submits a defense against an infraction of the account, and returns the updated infraction. If the infraction
/// already has the same defense, the defense is not sent a second time.
///
/// # Errors
/// [`DefendError`].
pub async fn defend(
    ports: &Ports,
    account: &Account,
    id: InfractionId,
    text: Text,
    evidence_url: Option<Text>,
) -> Result<Infraction, DefendError> {
    account.permit_write()?;
    let submitted = DefenseText { text, evidence_url };
    for _ in 0..MAX_COMMIT_RETRIES {
        let found = ports.queries.find_infraction(account.id, id).await.map_err(StoreError::from)?;
        let infraction = found.ok_or(DefendError::NotFound)?;
        let now = ports.clock.now();
        match infraction.defend(submitted.text.clone(), submitted.evidence_url.clone(), now) {
            Ok(InfractionStep::AlreadyTaken(infraction)) => return answer_repeat(ports, *infraction, &submitted).await,
            Ok(step @ InfractionStep::Taken(_)) => {
                if let Some(infraction) = about_to_send(ports, step, now).await? {
                    return submit(ports, infraction, &submitted).await;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Sends the stored defense to the acquirer for the first time.
async fn submit(ports: &Ports, infraction: Infraction, submitted: &DefenseText) -> Result<Infraction, DefendError> {
    let until = infraction.sent().map_or_else(|| ports.clock.now(), |sent| sent.send_until());
    match send_begun(ports, &infraction, EarlierRequests::None, until).await {
        UpstreamResult::Known(DefenseRecord::Receipt) => Ok(note_receipt(ports, &infraction).await?),
        UpstreamResult::Known(record @ DefenseRecord::Listed(_)) => {
            if let Err(error) = infraction.clone().apply(ports, record).await {
                tracing::warn!(infraction = %infraction.id, %error, "receipt of a defense could not be stored; a worker stores it later");
            }
            response_of(infraction.reread(ports).await?, submitted)
        }
        // A refusal after the deadline may have another reason text, so the local clock is checked too.
        UpstreamResult::Refused(reason) if reason == DEADLINE_PASSED || is_over(ports, &infraction) => {
            abandon_defense(ports, infraction, submitted, DefendError::TooLate).await
        }
        UpstreamResult::Refused(reason) => {
            abandon_defense(ports, infraction, submitted, DefendError::Refused(reason)).await
        }
        UpstreamResult::NotAccepted(_) => {
            abandon_defense(ports, infraction, submitted, DefendError::AcquirerUnavailable).await
        }
        // A worker checks the outcome later.
        UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_) => {
            response_of(infraction.reread(ports).await?, submitted)
        }
    }
}

/// Returns whether the deadline has passed by the local clock.
fn is_over(ports: &Ports, infraction: &Infraction) -> bool {
    infraction.deadline_at.is_some_and(|deadline| ports.clock.now() > deadline)
}

/// Withdraws a defense that certainly did not arrive, and returns the error `why`. If another process has changed the
/// infraction since the sending, the result follows from its new state instead.
async fn abandon_defense(
    ports: &Ports,
    infraction: Infraction,
    submitted: &DefenseText,
    why: DefendError,
) -> Result<Infraction, DefendError> {
    let infraction = withdraw(ports, &infraction).await?;
    if infraction.state == InfractionState::Open && infraction.defense.is_none() {
        return Err(why);
    }
    response_of(infraction, submitted)
}

/// Answers a request with the defense that is already stored. If its arrival is still unknown, the acquirer is read
/// first.
async fn answer_repeat(
    ports: &Ports,
    infraction: Infraction,
    submitted: &DefenseText,
) -> Result<Infraction, DefendError> {
    if awaits_receipt(&infraction) { resolve_outcome(ports, infraction, submitted).await } else { Ok(infraction) }
}

/// Checks whether the acquirer has the defense. If the outcome stays unknown, a worker checks it later.
async fn resolve_outcome(
    ports: &Ports,
    infraction: Infraction,
    submitted: &DefenseText,
) -> Result<Infraction, DefendError> {
    if let Err(error) = refresh(ports, &infraction).await {
        tracing::warn!(infraction = %infraction.id, acquirer = %infraction.acquirer, %error, "defense could not be read at its acquirer; the outcome of the defense stays unknown");
    }
    response_of(infraction.reread(ports).await?, submitted)
}

async fn refresh(ports: &Ports, infraction: &Infraction) -> Result<(), SyncError> {
    let acquirer = ports.acquirer(&infraction.acquirer)?;
    let upstream = find_upstream(ports, &*acquirer, infraction, REQUEST_DEADLINE).await?;
    if let Some(upstream) = upstream.filter(shows_a_defense) {
        apply(ports, &infraction.acquirer, upstream).await?;
    }
    Ok(())
}

/// Returns the result for the caller from the current state of the infraction.
fn response_of(infraction: Infraction, submitted: &DefenseText) -> Result<Infraction, DefendError> {
    let defense = infraction.defense.as_ref();
    let is_ours = defense.is_some_and(|defense| {
        defense.text.as_ref() == Some(&submitted.text) && defense.evidence_url == submitted.evidence_url
    });
    let arrived = defense.is_some_and(|defense| defense.submitted_at.is_some());
    match (infraction.state.status(), is_ours) {
        // An infraction that was resolved after the arrival of its defense is returned too.
        (_, true) if arrived => Ok(infraction),
        (InfractionStatus::Open, true) => Err(DefendError::Unknown { retry_after_s: RETRY_AFTER_S }),
        (status @ (InfractionStatus::Open | InfractionStatus::UnderReview), _) => Err(DefendError::Defended(status)),
        (status @ (InfractionStatus::Won | InfractionStatus::Lost | InfractionStatus::Cancelled), _) => {
            Err(DefendError::InvalidState(status))
        }
    }
}

impl From<InfractionError> for DefendError {
    fn from(error: InfractionError) -> Self {
        match error {
            InfractionError::InvalidState(status) => Self::InvalidState(status),
            InfractionError::Defended(status) => Self::Defended(status),
            InfractionError::TooLate(_) => Self::TooLate,
            InfractionError::Charge(_) | InfractionError::Money(_) => Self::Store(error.into()),
        }
    }
}

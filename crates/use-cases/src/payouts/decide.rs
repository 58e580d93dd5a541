//! Decides the step of a payout that follows from its acquirer's reply or record.

use cais_domain::payout::{Payout, PayoutError, PayoutState, PayoutStep, Recipient};
use cais_ports::{UpstreamPayout, UpstreamProgress, alerts};
use jiff::Timestamp;

use crate::upstream_order::{KeyedResource as _, NextStep};
use crate::upstream_result::UpstreamResult;
use crate::upstream_text::plain;

/// The reason of a failure if the acquirer reports none.
const NO_REASON: &str = "the recipient's institution did not accept the Pix";

/// Returns the step that follows from the reply to the request. `payout` may have changed since the request, for
/// example because of a callback.
pub(super) fn decide(
    payout: Payout,
    reply: &UpstreamResult<UpstreamPayout>,
    now: Timestamp,
) -> Result<PayoutStep, PayoutError> {
    match payout.creation_state().step(reply) {
        NextStep::Apply(upstream) => judge(payout, upstream, now),
        NextStep::Fail(reason) => payout.fail(why(Some(reason)), now),
        NextStep::Abandon => payout.abandon(now),
        NextStep::StayOpen => payout.send(None, Recipient::default(), now),
        NextStep::None => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

/// Returns the step that follows from the acquirer's record. A payout in creation always changes its state.
///
/// A record never reverses an outcome. If the record contradicts the outcome, an alert is raised, and the
/// reconciliation reports the difference.
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
            // Without an end-to-end id, it is not certain that the money arrived. So the payout stays open.
            (UpstreamProgress::Processing | UpstreamProgress::Done { .. }, id) => payout.send(id, recipient, now),
        },
        (PayoutState::Completed { .. } | PayoutState::Reversed { .. }, UpstreamProgress::Failed { .. })
        | (PayoutState::Failed { .. } | PayoutState::Abandoned { .. }, UpstreamProgress::Done { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Processing) => {
            tracing::error!(
                alert = alerts::PAYOUT_CONTRADICTED, payout = %payout.id, acquirer = %payout.state.acquirer(), ours = payout.state.status().as_str(),
                theirs = ?upstream.progress, "outcome of a payout contradicted by its acquirer; an operator must agree on the difference with the merchant"
            );
            Ok(PayoutStep::AlreadyTaken(payout))
        }
        // The record agrees with the outcome, or was read before the outcome was stored.
        (
            PayoutState::Completed { .. } | PayoutState::Reversed { .. },
            UpstreamProgress::Processing | UpstreamProgress::Done { .. },
        )
        | (PayoutState::Failed { .. }, UpstreamProgress::Processing | UpstreamProgress::Failed { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Failed { .. }) => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

/// Returns the progress of the payout. A payout with a returned part counts as done, even if the acquirer still shows
/// it as processing.
fn progress(upstream: &UpstreamPayout) -> UpstreamProgress {
    match (&upstream.progress, upstream.returned.first()) {
        (UpstreamProgress::Processing, Some(part)) => UpstreamProgress::Done { at: Some(part.at) },
        (progress, _) => progress.clone(),
    }
}

/// Returns the reason of a failure, as merchants see it.
pub(super) fn why(reason: Option<&str>) -> String {
    let reason = reason.map(plain).unwrap_or_default();
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}

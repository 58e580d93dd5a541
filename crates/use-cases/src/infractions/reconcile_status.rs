//! Decides the step that follows from an acquirer's report on an infraction. The decision depends only on the report
//! and the stored infraction.

use cais_domain::infraction::{Defense, Infraction, InfractionState, MAX_DEFENSE_TEXT};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{UpstreamInfraction, UpstreamInfractionStatus};
use jiff::{SignedDuration, Timestamp};

use super::defense::order;
use crate::upstream_text::{long, whole_microseconds};

/// For this time after a local step, the acquirer's list may still show the previous state.
const LISTS_LAG: SignedDuration = SignedDuration::from_secs(60);

/// The outcome of an infraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The dispute was rejected.
    Won,
    /// The dispute was accepted.
    Lost,
    /// The dispute was withdrawn.
    Cancelled,
}

/// The step that follows from an acquirer's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The stored infraction agrees with the report. No step follows.
    Agrees,
    /// The acquirer has a defense. `None` means the defense that this service sent.
    Defended(Option<Defense>),
    /// The infraction ends.
    Ends(Outcome),
    /// The stored infraction has ended, but the acquirer shows it as open. A new infraction begins.
    Reopened,
    /// The infraction was reopened and accepted after its end, and was never seen open again. A new infraction begins,
    /// and an operator decides it.
    AcceptedUnseen,
    /// The infraction under review ended and was reopened, and its end was not seen. An operator decides it.
    ReopenedUnseen,
    /// The report contradicts a proven fact. The stored infraction stays unchanged, and an alert is raised.
    Contradicts,
}

impl Verdict {
    /// Returns whether the report may be older than the stored infraction. Such a report would open or end an
    /// infraction twice. If `is_reopened`, the report may describe the infraction before its reopening.
    pub(super) const fn may_be_outdated(&self, is_reopened: bool) -> bool {
        match self {
            Self::Reopened | Self::AcceptedUnseen | Self::ReopenedUnseen | Self::Contradicts => true,
            Self::Ends(_) | Self::Defended(_) => is_reopened,
            Self::Agrees => false,
        }
    }
}

/// Returns the verdict on the newest stored infraction with this upstream id.
pub(super) fn judge(ours: &Infraction, upstream: &UpstreamInfraction, now: Timestamp) -> Verdict {
    let reported = status(upstream);
    let end = match reported {
        UpstreamInfractionStatus::Rejected => Some(Outcome::Won),
        UpstreamInfractionStatus::Accepted => Some(Outcome::Lost),
        UpstreamInfractionStatus::Cancelled => Some(Outcome::Cancelled),
        UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended | UpstreamInfractionStatus::Undecided => {
            None
        }
    };
    match (&ours.state, end) {
        // `Undecided` fits both states: some acquirers do not show defenses.
        (InfractionState::Open | InfractionState::UnderReview { .. }, None)
            if reported == UpstreamInfractionStatus::Undecided =>
        {
            Verdict::Agrees
        }
        (InfractionState::Open, None) if reported == UpstreamInfractionStatus::Open => Verdict::Agrees,
        (InfractionState::Open, None) => Verdict::Defended(defense_at_acquirer(ours, upstream, now)),
        (InfractionState::UnderReview { .. }, None) if reported == UpstreamInfractionStatus::Defended => {
            Verdict::Agrees
        }
        (InfractionState::UnderReview { at }, None) if began_again(*at, upstream) => Verdict::ReopenedUnseen,
        (InfractionState::UnderReview { .. }, None) => Verdict::Contradicts,
        // The report shows a defense and an end. The defense is recorded first, and the end in the next step.
        (InfractionState::Open, Some(_)) if upstream.defense.is_some() => {
            Verdict::Defended(defense_at_acquirer(ours, upstream, now))
        }
        (InfractionState::Open | InfractionState::UnderReview { .. }, Some(outcome)) => Verdict::Ends(outcome),
        (InfractionState::Won { .. } | InfractionState::Lost { .. } | InfractionState::Cancelled { .. }, None) => {
            Verdict::Reopened
        }
        (_, Some(Outcome::Lost)) if ended_again(ours, upstream) || !is_applied(ours) => Verdict::AcceptedUnseen,
        (InfractionState::Won { .. }, Some(Outcome::Won))
        | (InfractionState::Lost { .. }, Some(Outcome::Lost))
        | (InfractionState::Cancelled { .. }, Some(Outcome::Cancelled)) => Verdict::Agrees,
        // An operator may have decided differently from the acquirer.
        (_, Some(_)) if ours.review.is_some() => Verdict::Agrees,
        // An acceptance is handled above, because it moves money. Any other end that differs from the stored one is a
        // contradiction.
        (InfractionState::Won { .. } | InfractionState::Lost { .. } | InfractionState::Cancelled { .. }, Some(_)) => {
            Verdict::Contradicts
        }
    }
}

/// Returns whether the acceptance is already applied. This is true for a lost infraction, and for one that an operator
/// decided.
const fn is_applied(ours: &Infraction) -> bool {
    matches!(ours.state, InfractionState::Lost { .. }) || ours.review.is_some()
}

/// Returns whether the stored state is so new that the acquirer's list may not show it yet. The age counts from the
/// local change, not from the reported instant. An end can be reported long after it happened, and the next list can
/// still show the state before that report.
pub(super) fn is_young(ours: &Infraction, now: Timestamp) -> bool {
    let since = match &ours.state {
        InfractionState::Open => ours.created_at,
        InfractionState::UnderReview { at }
        | InfractionState::Won { at }
        | InfractionState::Lost { at, .. }
        | InfractionState::Cancelled { at } => *at,
    };
    now.duration_since(since) < LISTS_LAG
}

/// Returns whether the acquirer reports an end that is later than the stored end by more than [`LISTS_LAG`].
fn ended_again(ours: &Infraction, upstream: &UpstreamInfraction) -> bool {
    let (here, there) = (ours.state.resolved_at(), upstream.resolved_at);
    here.zip(there).is_some_and(|(here, there)| there.duration_since(here) > LISTS_LAG)
}

/// Returns whether the acquirer reports a start that is later than the start of the stored review by more than
/// [`LISTS_LAG`]. Such an infraction ended and was reopened. Returns `false` if the acquirer reports no start.
fn began_again(under_review_since: Timestamp, upstream: &UpstreamInfraction) -> bool {
    upstream.opened_at_is_reported && upstream.opened_at.duration_since(under_review_since) > LISTS_LAG
}

/// Returns whether the acquirer shows a defense.
pub(super) fn shows_a_defense(upstream: &UpstreamInfraction) -> bool {
    upstream.defense.is_some() || upstream.status == UpstreamInfractionStatus::Defended
}

/// Returns the reported status. An open infraction that is shown with a defense counts as defended.
fn status(upstream: &UpstreamInfraction) -> UpstreamInfractionStatus {
    let open = matches!(upstream.status, UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Undecided);
    if open && upstream.defense.is_some() { UpstreamInfractionStatus::Defended } else { upstream.status }
}

/// Returns the defense that the acquirer shows. Returns `None` if this service sent that defense.
fn defense_at_acquirer(ours: &Infraction, upstream: &UpstreamInfraction, now: Timestamp) -> Option<Defense> {
    let reported = upstream.defense.as_ref().and_then(|defense| defense.text.as_deref());
    if let Some(order) = order(ours)
        && reported.is_none_or(|reported| same_text(reported, &order.whole_text()))
    {
        return None;
    }
    let received_at = upstream.defense.as_ref().and_then(|defense| defense.received_at);
    let at = received_at.map(whole_microseconds).filter(|at| *at <= now).unwrap_or(now);
    let text = reported.map(|reported| long(reported, MAX_DEFENSE_TEXT)).filter(|text| !text.is_empty());
    let text = text.and_then(|text| Text::parse(&text, MAX_DEFENSE_TEXT, LineBreaks::Allowed).ok());
    Some(Defense { text, evidence_url: None, sent_at: at, submitted_at: Some(at) })
}

/// Compares two texts and ignores differences in white space, because acquirers can change the white space.
fn same_text(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// Returns whether the infraction has a defense whose arrival is unknown.
pub(super) fn awaits_receipt(infraction: &Infraction) -> bool {
    infraction.state == InfractionState::Open
        && infraction.defense.as_ref().is_some_and(|defense| defense.submitted_at.is_none())
}

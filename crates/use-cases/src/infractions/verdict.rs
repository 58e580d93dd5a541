//! What an acquirer's word on an infraction asks of ours, as a pure function of both.

use cais_domain::infraction::{Defense, Infraction, InfractionState, MAX_DEFENSE_TEXT};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{UpstreamInfraction, UpstreamInfractionStatus};
use jiff::{SignedDuration, Timestamp};

use super::defense::order;
use crate::upstream_text::{long, whole_microseconds};

/// For how long after a step of ours its acquirer's list may still show how it was before.
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

/// What follows from an acquirer's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing: ours is as the acquirer says.
    Agrees,
    /// The acquirer has a defence: the one that was sent from here, or this one.
    Defended(Option<Defense>),
    /// The infraction ends.
    Ends(Outcome),
    /// The acquirer shows the infraction open after its end: a new infraction begins.
    Reopened,
    /// The infraction was reopened and accepted after its end, and was not seen open: a new infraction begins, for an operator.
    AcceptedUnseen,
    /// The defended infraction ended and was reopened, and its end was not seen: an operator decides.
    ReopenedUnseen,
    /// What was read may be older than what we know: nothing follows from it until it is read anew.
    TooEarly,
    /// It contradicts what we know for certain: ours stays, and an operator is told.
    Contradicts,
}

impl Verdict {
    /// Returns whether the verdict requires an acquirer's record that was read after the stored infraction. An older record would open or
    /// end an infraction a second time. `is_reopened`: the record may be about the infraction of the round before.
    pub(super) const fn needs_a_fresh_look(&self, is_reopened: bool) -> bool {
        match self {
            Self::Reopened | Self::AcceptedUnseen | Self::ReopenedUnseen => true,
            Self::Ends(_) | Self::Defended(_) => is_reopened,
            Self::Agrees | Self::TooEarly | Self::Contradicts => false,
        }
    }
}

/// Returns the verdict on the latest stored infraction of that name. `is_reopened`: it is not the first of that name.
pub(super) fn judge(ours: &Infraction, is_reopened: bool, told: &UpstreamInfraction, now: Timestamp) -> Verdict {
    let shown = status(told);
    let end = match shown {
        UpstreamInfractionStatus::Rejected => Some(Outcome::Won),
        UpstreamInfractionStatus::Accepted => Some(Outcome::Lost),
        UpstreamInfractionStatus::Cancelled => Some(Outcome::Cancelled),
        UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended => None,
    };
    match (&ours.state, end) {
        (InfractionState::Open, None) if shown == UpstreamInfractionStatus::Open => Verdict::Agrees,
        (InfractionState::Open, None) => Verdict::Defended(theirs(ours, told, now)),
        (InfractionState::UnderReview { .. }, None) if shown == UpstreamInfractionStatus::Defended => Verdict::Agrees,
        (InfractionState::UnderReview { .. }, None) if is_young(ours, now) => Verdict::TooEarly,
        (InfractionState::UnderReview { at }, None) if began_again(*at, told) => Verdict::ReopenedUnseen,
        (InfractionState::UnderReview { .. }, None) => Verdict::Contradicts,
        (InfractionState::Open | InfractionState::UnderReview { .. }, Some(_))
            if is_reopened && is_young(ours, now) =>
        {
            Verdict::TooEarly
        }
        // An infraction that ended before its defense was seen still counts as defended.
        (InfractionState::Open, Some(_)) if told.defense.is_some() => Verdict::Defended(theirs(ours, told, now)),
        (InfractionState::Open | InfractionState::UnderReview { .. }, Some(outcome)) => Verdict::Ends(outcome),
        (InfractionState::Won { .. } | InfractionState::Lost { .. } | InfractionState::Cancelled { .. }, None) => {
            if is_young(ours, now) {
                Verdict::TooEarly
            } else {
                Verdict::Reopened
            }
        }
        (_, Some(Outcome::Lost)) if ended_again(ours, told) || !is_applied(ours) => {
            if is_young(ours, now) {
                Verdict::TooEarly
            } else {
                Verdict::AcceptedUnseen
            }
        }
        (InfractionState::Won { .. }, Some(Outcome::Won))
        | (InfractionState::Lost { .. }, Some(Outcome::Lost))
        | (InfractionState::Cancelled { .. }, Some(Outcome::Cancelled)) => Verdict::Agrees,
        // The decision of an operator may differ from the acquirer's.
        (_, Some(_)) if ours.review.is_some() => Verdict::Agrees,
        // To win or to withdraw again what had ended moves nothing.
        (InfractionState::Won { .. } | InfractionState::Lost { .. } | InfractionState::Cancelled { .. }, Some(_)) => {
            Verdict::Contradicts
        }
    }
}

/// Returns whether an acceptance is already applied: the infraction is lost, or an operator decided it.
const fn is_applied(ours: &Infraction) -> bool {
    matches!(ours.state, InfractionState::Lost { .. }) || ours.review.is_some()
}

/// Whether it is as it is since so short a time that its acquirer's list need not show it yet. It counts from when it became so
/// here: an end may have been told long after it happened, and the next list may still be an old one.
fn is_young(ours: &Infraction, now: Timestamp) -> bool {
    let since = match &ours.state {
        InfractionState::Open => ours.created_at,
        InfractionState::UnderReview { at }
        | InfractionState::Won { at }
        | InfractionState::Lost { at, .. }
        | InfractionState::Cancelled { at } => *at,
    };
    now.duration_since(since) < LISTS_LAG
}

/// Whether it ended at the acquirer after it had ended here, by more than clocks and lists may differ.
fn ended_again(ours: &Infraction, told: &UpstreamInfraction) -> bool {
    let (here, there) = (ours.state.resolved_at(), told.resolved_at);
    here.zip(there).is_some_and(|(here, there)| there.duration_since(here) > LISTS_LAG)
}

/// Whether its acquirer says that it began later than it was known to be under review here, by more than clocks and lists may
/// differ: then it has ended meanwhile. Where the acquirer does not say when it began, nothing tells.
fn began_again(under_review_since: Timestamp, told: &UpstreamInfraction) -> bool {
    told.opened_at_is_reported && told.opened_at.duration_since(under_review_since) > LISTS_LAG
}

/// Whether the acquirer has a defence, as far as it shows.
pub(super) fn shows_a_defense(told: &UpstreamInfraction) -> bool {
    told.defense.is_some() || told.status == UpstreamInfractionStatus::Defended
}

/// One that is shown with a defence is defended, whatever its word for it.
fn status(told: &UpstreamInfraction) -> UpstreamInfractionStatus {
    let defended = told.status == UpstreamInfractionStatus::Open && told.defense.is_some();
    if defended { UpstreamInfractionStatus::Defended } else { told.status }
}

/// The defence that the acquirer has; `None` when it is the one that was sent from here, as far as it shows.
fn theirs(ours: &Infraction, told: &UpstreamInfraction, now: Timestamp) -> Option<Defense> {
    let shown = told.defense.as_ref().and_then(|defense| defense.text.as_deref());
    if let Some(order) = order(ours)
        && shown.is_none_or(|shown| same_words(shown, &order.whole_text()))
    {
        return None;
    }
    let received_at = told.defense.as_ref().and_then(|defense| defense.received_at);
    let at = received_at.map(whole_microseconds).filter(|at| *at <= now).unwrap_or(now);
    let text = shown.map(|shown| long(shown, MAX_DEFENSE_TEXT)).filter(|text| !text.is_empty());
    let text = text.and_then(|text| Text::parse(&text, MAX_DEFENSE_TEXT, LineBreaks::Allowed).ok());
    Some(Defense { text, evidence_url: None, sent_at: at, submitted_at: Some(at) })
}

/// Acquirers may show a text with other white space than it was sent with.
fn same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// Whether there is a defence of ours of which nobody knows whether it arrived.
pub(super) fn awaits_receipt(infraction: &Infraction) -> bool {
    infraction.state == InfractionState::Open
        && infraction.defense.as_ref().is_some_and(|defense| defense.submitted_at.is_none())
}

//! What an acquirer's word on an infraction asks of ours, as a pure function of both.

use cais_domain::infraction::{Defense, Infraction, InfractionState, InfractionStatus, MAX_DEFENSE_TEXT};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{UpstreamInfraction, UpstreamInfractionStatus};
use jiff::{SignedDuration, Timestamp};

use super::defense::order;
use crate::upstream_text::{long, whole_microseconds};

/// For how long after a step of ours its acquirer's list may still show how it was before.
pub(super) const LISTS_LAG: SignedDuration = SignedDuration::from_secs(60);

/// What follows from an acquirer's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing: ours is as the acquirer says.
    Agrees,
    /// The acquirer has a defence: the one that was sent from here, or this one.
    Defended(Option<Defense>),
    /// The claim was rejected.
    Won,
    /// The claim was accepted.
    Lost,
    /// The claim was withdrawn.
    Cancelled,
    /// It is open again after it had ended: that is a new one.
    Reopened,
    /// It was opened again and accepted after ours had ended: that is a new one, of which what was taken is lost.
    LostUnseen,
    /// It may have been opened again and lost after ours was lost: what its acquirer took tells.
    LostAgain,
    /// It ended and was opened again after ours was defended: ours ends, and a new one begins.
    ReopenedUnseen,
    /// What was read may be older than what we know: nothing follows from it until it is read anew.
    TooEarly,
    /// It contradicts what we know for certain: ours stays, and an operator is told.
    Contradicts,
}

/// What follows for ours, in its latest round. What the acquirer says was read after ours; `may_be_older` says that it may be about
/// an earlier round all the same.
pub(super) fn judge(ours: &Infraction, may_be_older: bool, told: &UpstreamInfraction, now: Timestamp) -> Verdict {
    match (ours.state.status(), status(told)) {
        (InfractionStatus::Lost, UpstreamInfractionStatus::Accepted) if ended_again(ours, told) => {
            if is_young(ours, now) { Verdict::TooEarly } else { Verdict::LostAgain }
        }
        (InfractionStatus::Open, UpstreamInfractionStatus::Open)
        | (InfractionStatus::UnderReview, UpstreamInfractionStatus::Defended)
        | (InfractionStatus::Won, UpstreamInfractionStatus::Rejected)
        | (InfractionStatus::Lost, UpstreamInfractionStatus::Accepted)
        | (InfractionStatus::Cancelled, UpstreamInfractionStatus::Cancelled) => Verdict::Agrees,
        (
            InfractionStatus::Open | InfractionStatus::UnderReview,
            UpstreamInfractionStatus::Accepted
            | UpstreamInfractionStatus::Rejected
            | UpstreamInfractionStatus::Cancelled,
        ) if may_be_older && is_young(ours, now) => Verdict::TooEarly,
        // One that ended before we saw that it was defended was defended all the same.
        (InfractionStatus::Open, UpstreamInfractionStatus::Defended) => Verdict::Defended(theirs(ours, told, now)),
        (
            InfractionStatus::Open,
            UpstreamInfractionStatus::Accepted
            | UpstreamInfractionStatus::Rejected
            | UpstreamInfractionStatus::Cancelled,
        ) if told.defense.is_some() => Verdict::Defended(theirs(ours, told, now)),
        (InfractionStatus::Open | InfractionStatus::UnderReview, UpstreamInfractionStatus::Rejected) => Verdict::Won,
        (InfractionStatus::Open | InfractionStatus::UnderReview, UpstreamInfractionStatus::Accepted) => Verdict::Lost,
        (InfractionStatus::Open | InfractionStatus::UnderReview, UpstreamInfractionStatus::Cancelled) => {
            Verdict::Cancelled
        }
        (
            InfractionStatus::Won | InfractionStatus::Lost | InfractionStatus::Cancelled,
            UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended,
        ) => {
            if is_young(ours, now) {
                Verdict::TooEarly
            } else {
                Verdict::Reopened
            }
        }
        (InfractionStatus::Won | InfractionStatus::Cancelled, UpstreamInfractionStatus::Accepted) => {
            if is_young(ours, now) { Verdict::TooEarly } else { Verdict::LostUnseen }
        }
        (InfractionStatus::UnderReview, UpstreamInfractionStatus::Open) if is_young(ours, now) => Verdict::TooEarly,
        (InfractionStatus::UnderReview, UpstreamInfractionStatus::Open) if began_again(ours, told) => {
            Verdict::ReopenedUnseen
        }
        // To win or to withdraw again what had ended moves nothing.
        (InfractionStatus::UnderReview, UpstreamInfractionStatus::Open)
        | (InfractionStatus::Won, UpstreamInfractionStatus::Cancelled)
        | (InfractionStatus::Lost, UpstreamInfractionStatus::Rejected | UpstreamInfractionStatus::Cancelled)
        | (InfractionStatus::Cancelled, UpstreamInfractionStatus::Rejected) => Verdict::Contradicts,
    }
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
fn began_again(ours: &Infraction, told: &UpstreamInfraction) -> bool {
    match &ours.state {
        InfractionState::UnderReview { at } => told.opened_at_is_told && told.opened_at.duration_since(*at) > LISTS_LAG,
        InfractionState::Open
        | InfractionState::Won { .. }
        | InfractionState::Lost { .. }
        | InfractionState::Cancelled { .. } => false,
    }
}

/// Whether it may have been opened again and lost after ours was lost.
pub(super) fn may_be_lost_again(ours: &Infraction, told: &UpstreamInfraction) -> bool {
    told.status == UpstreamInfractionStatus::Accepted
        && ours.state.status() == InfractionStatus::Lost
        && ended_again(ours, told)
}

/// Whether what follows depends on the order in which ours and the acquirer's were read: then the acquirer's has to be read
/// after ours, or what it showed before would open or end an infraction a second time.
pub(super) fn needs_a_fresh_look(ours: &Infraction, may_be_older: bool, told: &UpstreamInfraction) -> bool {
    let status_here = ours.state.status();
    let open_here = status_here.is_open();
    let open_there = match told.status {
        UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended => true,
        UpstreamInfractionStatus::Accepted
        | UpstreamInfractionStatus::Rejected
        | UpstreamInfractionStatus::Cancelled => false,
    };
    let ends_there = told.status == UpstreamInfractionStatus::Accepted
        && !open_here
        && (status_here != InfractionStatus::Lost || ended_again(ours, told));
    let begins_there = open_there && began_again(ours, told);
    (!open_here && open_there) || (may_be_older && open_here && !open_there) || ends_there || begins_there
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

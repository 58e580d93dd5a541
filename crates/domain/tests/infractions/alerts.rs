//! Tests alerts before a deadline: one alert each at 48, 24 and 6 hours.

use cais_domain::infraction::{Infraction, InfractionChange, InfractionStep};
use cais_domain::text::{LineBreaks, Text};
use jiff::{SignedDuration, Timestamp};

use crate::book::{Book, at, report};

fn open() -> Infraction {
    let mut book = Book::paid(1_000);
    book.open(1_000);
    book.infractions.remove(0)
}

/// Returns the instant `seconds` before the deadline.
fn before(infraction: &Infraction, seconds: i64) -> Timestamp {
    infraction.deadline_at.unwrap().checked_sub(SignedDuration::from_secs(seconds)).unwrap()
}

fn defended(infraction: Infraction) -> Infraction {
    let text = Text::parse("sent by mail", 2_000, LineBreaks::Allowed).unwrap();
    match infraction.defend(text, None, at()).unwrap() {
        InfractionStep::Taken(change) => {
            let InfractionChange { infraction, .. } = *change;
            infraction
        }
        InfractionStep::AlreadyTaken(infraction) => *infraction,
    }
}

#[test]
fn each_alert_is_due_once_and_in_time() {
    let mut infraction = open();
    for (hours_left, expected) in [
        (168, None),
        (49, None),
        (48, Some(48)),
        (47, None),
        (25, None),
        (24, Some(24)),
        (7, None),
        (6, Some(6)),
        (1, None),
        (0, None),
        (-1, None),
    ] {
        let alerted = infraction.clone().alert(before(&infraction, hours_left * 3_600));
        assert_eq!(alerted.as_ref().map(|(_, hours)| *hours), expected, "{hours_left} hours before");
        infraction = alerted.map_or(infraction, |(alerted, _)| alerted);
    }
    assert_eq!(infraction.alerted_h, Some(6));
}

#[test]
fn late_check_alerts_only_the_nearest_deadline() {
    let infraction = open();
    let now = before(&infraction, 5 * 3_600);
    let (alerted, hours) = infraction.alert(now).unwrap();
    assert_eq!((hours, alerted.clone().alert(now)), (6, None));
}

#[test]
fn defended_resolved_or_endless_infraction_has_no_alert() {
    let infraction = open();
    let now = before(&infraction, 3_600);
    assert_eq!(defended(infraction.clone()).alert(now), None);
    assert_eq!(Infraction { deadline_at: None, ..infraction }.alert(now), None);
    let mut book = Book::paid(1_000);
    book.open(1_000);
    book.win(0);
    assert_eq!(book.infractions.remove(0).alert(now), None);
}

#[test]
fn changed_deadline_restarts_alerts() {
    let mut book = Book::paid(1_000);
    book.open(1_000);
    let now = before(&book.infractions[0], 3_600);
    let (alerted, _) = book.infractions[0].clone().alert(now).unwrap();
    book.infractions[0] = alerted;
    let mut later = report(0, 1_000);
    book.with(0, |infraction, disputed, _| infraction.amend(&later, disputed));
    assert_eq!(book.infractions[0].alerted_h, Some(6), "the same deadline has each alert once");
    later.deadline_at = later.deadline_at.and_then(|at| at.checked_add(SignedDuration::from_hours(30)).ok());
    book.with(0, |infraction, disputed, _| infraction.amend(&later, disputed));
    assert_eq!(book.infractions[0].clone().alert(now).map(|(_, hours)| hours), Some(48));
}

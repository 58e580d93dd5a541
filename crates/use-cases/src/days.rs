//! Spans of time in requests. The start and the end of a span are days in São Paulo or exact instants. Both are part of
//! the span.

use std::borrow::Cow;

use cais_ports::Span;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// The time zone of the days in filters.
const ZONE: &str = "America/Sao_Paulo";
/// The offset of the zone, used if the time zone database does not have the zone. Brazil abolished daylight saving time
/// in 2019 (Decree 9,772), so the offset has been constant since then.
const HOURS_FROM_UTC: i8 = -3;
/// The length of `YYYY-MM-DD`.
const DAY_LENGTH: usize = 10;
/// The resolution of displayed instants. An end of `12:00:00.500` includes all times that are displayed as
/// `12:00:00.500`.
const SHOWN_STEP: SignedDuration = SignedDuration::from_millis(1);
/// The resolution of the store, used for an end that is more precise than displayed instants.
const FINEST_STEP: SignedDuration = SignedDuration::from_micros(1);
/// The number of nanoseconds in a millisecond.
const NANOS_PER_MILLI: i32 = 1_000_000;
/// The error text for a text that is neither a day nor an instant.
const NO_DAY_OR_INSTANT: &str = "must be a day as YYYY-MM-DD or an instant as in 2026-01-31T12:00:00Z";

/// Returns the first instant of a span that starts with `text`.
///
/// # Errors
/// The text of the violated rule, in a form that can follow the parameter's name.
pub fn beginning(text: &str) -> Result<Timestamp, Cow<'static, str>> {
    match read(text)? {
        Moment::Instant(at) => Ok(at),
        Moment::Day(day) => midnight(day).ok_or(Cow::Borrowed("is out of range")),
    }
}

/// Returns the first instant after a span that ends with `text`.
///
/// # Errors
/// The text of the violated rule, in a form that can follow the parameter's name.
pub fn end(text: &str) -> Result<Timestamp, Cow<'static, str>> {
    match read(text)? {
        Moment::Instant(at) => {
            let is_as_shown = at.subsec_nanosecond().rem_euclid(NANOS_PER_MILLI) == 0;
            let step = if is_as_shown { SHOWN_STEP } else { FINEST_STEP };
            Ok(at.saturating_add(step).unwrap_or(Timestamp::MAX))
        }
        // The last day of the calendar has no next day.
        Moment::Day(day) => Ok(day.tomorrow().ok().and_then(midnight).unwrap_or(Timestamp::MAX)),
    }
}

/// Returns `true` if the span ends at or before its start. Such a span is empty.
#[must_use]
pub fn is_reversed(span: Span) -> bool {
    span.from.zip(span.until).is_some_and(|(from, until)| until <= from)
}

enum Moment {
    Day(Date),
    Instant(Timestamp),
}

fn read(text: &str) -> Result<Moment, Cow<'static, str>> {
    if text.len() == DAY_LENGTH {
        return text.parse().map(Moment::Day).map_err(|_| NO_DAY_OR_INSTANT.into());
    }
    if text.contains(' ') {
        return Err("must not contain blanks; in a query string `+` is written %2B".into());
    }
    // The parser accepts a zone in brackets, but RFC 3339 does not permit one.
    let instant = Some(text).filter(|text| !text.contains('[')).and_then(|text| text.parse().ok());
    instant.map(Moment::Instant).ok_or(Cow::Borrowed(NO_DAY_OR_INSTANT))
}

/// Returns the time zone of São Paulo. The library caches the zone.
#[must_use]
pub fn sao_paulo() -> TimeZone {
    TimeZone::get(ZONE).unwrap_or_else(|_| TimeZone::fixed(Offset::constant(HOURS_FROM_UTC)))
}

/// Returns the first instant of a day in São Paulo. Returns `None` for a day that is out of range.
fn midnight(day: Date) -> Option<Timestamp> {
    day.to_zoned(sao_paulo()).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn instant(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn span_of_days_in_sao_paulo_includes_both_days() {
        assert_eq!(beginning("2026-01-31").unwrap(), instant("2026-01-31T03:00:00Z"));
        assert_eq!(end("2026-01-31").unwrap(), instant("2026-02-01T03:00:00Z"));
        assert_eq!(beginning("2018-12-01").unwrap(), instant("2018-12-01T02:00:00Z"), "with daylight saving time");
        assert_eq!(end("9999-12-31").unwrap(), Timestamp::MAX);
    }

    #[test]
    fn span_of_instants_includes_both_instants() {
        assert_eq!(beginning("2026-01-31T12:00:00Z").unwrap(), instant("2026-01-31T12:00:00Z"));
        assert_eq!(end("2026-01-31T12:00:00-03:00").unwrap(), instant("2026-01-31T15:00:00.001Z"));
        assert_eq!(end("2026-01-31T12:00:00.5Z").unwrap(), instant("2026-01-31T12:00:00.501Z"));
        assert_eq!(end("2026-01-31T12:00:00.500123Z").unwrap(), instant("2026-01-31T12:00:00.500124Z"));
    }

    #[test]
    fn text_that_is_neither_day_nor_instant_is_rejected() {
        for text in
            ["", "today", "2026-02-30", "2026-1-1", "31/01/2026", "20260131", "2026-01-31T12:00:00", "1767225600"]
        {
            assert_eq!(beginning(text).unwrap_err(), NO_DAY_OR_INSTANT, "{text}");
        }
        assert!(beginning("2026-01-31T12:00:00 00:00").unwrap_err().contains("%2B"));
        assert_eq!(beginning("2026-01-31T12:00:00Z[UTC]").unwrap_err(), NO_DAY_OR_INSTANT);
    }

    #[test]
    fn span_may_be_one_day_but_not_reversed() {
        let span = |from: &str, to: &str| Span { from: beginning(from).ok(), until: end(to).ok() };
        assert!(!is_reversed(span("2026-01-31", "2026-01-31")));
        assert!(is_reversed(span("2026-01-31", "2026-01-30")));
        assert!(!is_reversed(span("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z")));
        assert!(!is_reversed(Span::default()));
    }
}

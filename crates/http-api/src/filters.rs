//! The filters of lists: one value of a closed list, or a period.

use cais_ports::Span;
use cais_strict_json::{Issues, Problem};
use jiff::Timestamp;

use super::query::Query;
use crate::days;

/// The parameter for the first day or instant.
pub const CREATED_FROM: &str = "created_from";
/// The parameter for the last day or instant.
pub const CREATED_TO: &str = "created_to";

/// Returns the value of a parameter, if present. For an unknown value, a problem that lists the permitted values is added to `issues`.
#[must_use]
pub fn one_of<T: Copy>(
    query: &Query,
    name: &str,
    known: &[T],
    text_of: impl Fn(T) -> &'static str,
    issues: &Issues,
) -> Option<T> {
    let given = query.get(name)?;
    let found = known.iter().copied().find(|value| text_of(*value) == given);
    if found.is_none() {
        let words: Vec<&str> = known.iter().map(|value| text_of(*value)).collect();
        issues.add(name, format!("must be one of {}", words.join(", ")));
    }
    found
}

/// Returns the span of `created_from` and `created_to`. Problems are added to `issues`.
#[must_use]
pub fn created(query: &Query, issues: &Issues) -> Span {
    let read = |name, rule: fn(&str) -> Result<Timestamp, Problem>| {
        query.get(name).and_then(|text| rule(text).map_err(|problem| issues.add(name, problem)).ok())
    };
    let span = Span { from: read(CREATED_FROM, days::beginning), until: read(CREATED_TO, days::end) };
    if days::is_reversed(span) {
        issues.add(CREATED_TO, "must not be before created_from");
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(raw: &str) -> Vec<String> {
        let issues = Issues::default();
        let query = Query::read(raw, &["bucket", CREATED_FROM, CREATED_TO], &issues);
        let _bucket = one_of(&query, "bucket", &["available", "pending"], |name| name, &issues);
        let _span = created(&query, &issues);
        issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
    }

    #[test]
    fn filter_problems_are_all_reported() {
        assert_eq!(problems("bucket=pending&created_from=2026-01-01&created_to=2026-01-01"), [""; 0]);
        assert_eq!(
            problems("bucket=gold&created_from=x&created_to="),
            [
                "bucket must be one of available, pending",
                "created_from must be a day as YYYY-MM-DD or an instant as in 2026-01-31T12:00:00Z",
                "created_to must be a day as YYYY-MM-DD or an instant as in 2026-01-31T12:00:00Z",
            ]
        );
        assert_eq!(
            problems("created_from=2026-01-02&created_to=2026-01-01"),
            ["created_to must not be before created_from"]
        );
        assert_eq!(problems("created_from=2026-01-02T00:00:00%2B00:00"), [""; 0]);
    }
}

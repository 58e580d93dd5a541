//! The filter of the timeline in the address of its page. Its parameters are those of the API.

use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{Span, TransactionFilter};
use cais_use_cases::days;
use jiff::Timestamp;

use crate::query::{self, Query};

/// The values of the form's fields, as they were sent.
pub(super) struct Fields {
    pub(super) direction: String,
    pub(super) status: String,
    pub(super) from: String,
    pub(super) to: String,
}

impl Fields {
    pub(super) fn of(query: &Query) -> Self {
        let value = |name| query.get(name).unwrap_or_default().to_owned();
        Self { direction: value("type"), status: value("status"), from: value("created_from"), to: value("created_to") }
    }

    /// Returns the filter; `None` if a value is none of the permitted ones.
    pub(super) fn filter(&self) -> Option<TransactionFilter> {
        let created = Span { from: day(&self.from, days::beginning)?, until: day(&self.to, days::end)? };
        let filter = TransactionFilter {
            direction: one_of(&self.direction, &Direction::ALL, Direction::as_str)?,
            status: one_of(&self.status, &TransactionStatus::ALL, TransactionStatus::as_str)?,
            created,
        };
        Some(filter).filter(|_| !days::is_reversed(created))
    }

    /// Returns `path` with this filter and further parameters.
    pub(super) fn address(&self, path: &str, others: &[(&str, &str)]) -> String {
        let own = [
            ("type", self.direction.as_str()),
            ("status", self.status.as_str()),
            ("created_from", self.from.as_str()),
            ("created_to", self.to.as_str()),
        ];
        query::path_with(path, &[&own, others].concat())
    }
}

/// Returns the value with that name; `Some(None)` for an empty text.
fn one_of<T: Copy>(text: &str, known: &[T], name: impl Fn(T) -> &'static str) -> Option<Option<T>> {
    if text.is_empty() {
        return Some(None);
    }
    known.iter().copied().find(|value| name(*value) == text).map(Some)
}

fn day<E>(text: &str, read: fn(&str) -> Result<Timestamp, E>) -> Option<Option<Timestamp>> {
    if text.is_empty() { Some(None) } else { read(text).ok().map(Some) }
}

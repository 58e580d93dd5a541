//! The filter of the timeline, from the query of the page's URL. The parameters are the same as in the API.

use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{Span, TransactionFilter};
use cais_use_cases::days;
use jiff::Timestamp;

use crate::query::{self, Query};

/// The error of a filter with an invalid value or a reversed period.
#[derive(Debug, Clone, Copy)]
pub(super) struct InvalidFilter;

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

    /// Returns the filter.
    ///
    /// # Errors
    /// A value is not permitted, or the period is reversed.
    pub(super) fn filter(&self) -> Result<TransactionFilter, InvalidFilter> {
        let created = Span { from: day(&self.from, days::beginning)?, until: day(&self.to, days::end)? };
        let filter = TransactionFilter {
            direction: one_of(&self.direction, &Direction::ALL, Direction::as_str)?,
            status: one_of(&self.status, &TransactionStatus::ALL, TransactionStatus::as_str)?,
            created,
        };
        if days::is_reversed(created) { Err(InvalidFilter) } else { Ok(filter) }
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

/// Returns the value with the name `text`; `None` for an empty text.
fn one_of<T: Copy>(text: &str, known: &[T], name: impl Fn(T) -> &'static str) -> Result<Option<T>, InvalidFilter> {
    if text.is_empty() {
        return Ok(None);
    }
    known.iter().copied().find(|value| name(*value) == text).map(Some).ok_or(InvalidFilter)
}

fn day<E>(text: &str, read: fn(&str) -> Result<Timestamp, E>) -> Result<Option<Timestamp>, InvalidFilter> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some).map_err(|_| InvalidFilter) }
}

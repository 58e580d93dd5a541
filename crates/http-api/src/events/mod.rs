//! `/v1/events`.

pub mod get;
pub mod list;
pub mod resend;

use cais_domain::ids::{EventId, kind};
use cais_strict_json::Issues;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::named;
use super::query;

/// Returns the id of the event in the path. Problems are added to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<EventId> {
    query::none(call.query(), issues);
    named::id::<kind::Event>(call.params.first(), "id", issues)
}

pub(super) fn no_such_event() -> ApiError {
    ApiError::new(ErrorCode::NotFound).with_message("There is no such event.")
}

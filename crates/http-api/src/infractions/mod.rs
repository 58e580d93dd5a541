//! `/v1/infractions`.

pub mod defend;
pub mod get;
pub mod list;
pub mod terms;

use cais_domain::ids::{InfractionId, kind};
use cais_strict_json::Issues;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::named;
use super::query;

/// Returns the id of the infraction in the path. Problems are added to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<InfractionId> {
    query::none(call.query(), issues);
    named::id::<kind::Infraction>(call.params.first(), "id", issues)
}

pub(super) fn no_such_infraction() -> ApiError {
    ApiError::new(ErrorCode::NotFound).with_message("There is no such infraction.")
}

//! `/v1/webhook-endpoints`.

pub mod change;
pub mod create;
pub mod delete;
pub mod deliveries;
mod failures;
pub mod get;
pub mod list;
pub mod resend;
pub mod rotate;
pub mod terms;
pub mod test;

use cais_domain::ids::{EndpointId, kind};

pub(crate) use self::failures::no_such_endpoint;
use super::call::Call;
use super::named;
use super::query;
use cais_strict_json::Issues;

/// Returns the id of the endpoint in the path of a request without parameters. Problems are added to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<EndpointId> {
    query::none(call.query(), issues);
    in_path(call, issues)
}

/// Returns the id of the endpoint in the path. Problems are added to `issues`.
#[must_use]
pub fn in_path(call: &Call<'_>, issues: &Issues) -> Option<EndpointId> {
    named::id::<kind::Endpoint>(call.params.first(), "id", issues)
}

//! `/v1/charges/{id}/refunds` and `/v1/refunds`.

pub mod create;
pub mod get;
pub mod list;
pub mod terms;

use cais_domain::ids::kind;
use cais_use_cases::refunds::RefundName;

use super::call::Call;
use super::named::{self, Named};
use super::query;
use cais_strict_json::Issues;

/// The refund that a call's path names, for calls without parameters. Problems go to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<RefundName> {
    query::none(call.query(), issues);
    match named::read::<kind::Refund>(call.params.first()) {
        Ok(Named::Id(id)) => Some(RefundName::Id(id)),
        Ok(Named::External(external_id)) => Some(RefundName::External(external_id)),
        Err(complaint) => {
            issues.add("id", complaint);
            None
        }
    }
}

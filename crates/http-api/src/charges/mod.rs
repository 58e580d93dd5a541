//! `/v1/charges`.

pub mod cancel;
pub mod create;
pub mod get;
pub mod list;
pub mod split;
pub mod terms;

use cais_domain::ids::kind;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::FetchChargeError;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::named::{self, Named};
use super::query;
use cais_strict_json::Issues;

/// The charge that a call's path names, for calls without parameters. Problems go to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<ChargeName> {
    query::none(call.query(), issues);
    in_path(call, issues)
}

/// The charge that a call's path names. Problems go to `issues`.
#[must_use]
pub fn in_path(call: &Call<'_>, issues: &Issues) -> Option<ChargeName> {
    match named::read::<kind::Charge>(call.params.first()) {
        Ok(Named::Id(id)) => Some(ChargeName::Id(id)),
        Ok(Named::External(external_id)) => Some(ChargeName::External(external_id)),
        Err(complaint) => {
            issues.add("id", complaint);
            None
        }
    }
}

impl From<FetchChargeError> for ApiError {
    fn from(error: FetchChargeError) -> Self {
        match error {
            FetchChargeError::NotFound => Self::new(ErrorCode::NotFound).saying("There is no such charge."),
            FetchChargeError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            FetchChargeError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            FetchChargeError::Internal(cause) => Self::internal(cause),
        }
    }
}

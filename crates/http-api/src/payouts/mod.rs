//! `/v1/payouts`.

pub mod create;
pub mod get;
pub mod list;
pub mod terms;

use cais_domain::ids::kind;
use cais_use_cases::payouts::PayoutName;
use cais_use_cases::payouts::fetch::FetchPayoutError;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::named::{self, Named};
use super::query;
use cais_strict_json::Issues;

/// The payout that a call's path names, for calls without parameters. Problems go to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<PayoutName> {
    query::none(call.query(), issues);
    match named::read::<kind::Payout>(call.params.first()) {
        Ok(Named::Id(id)) => Some(PayoutName::Id(id)),
        Ok(Named::External(external_id)) => Some(PayoutName::External(external_id)),
        Err(complaint) => {
            issues.add("id", complaint);
            None
        }
    }
}

impl From<FetchPayoutError> for ApiError {
    fn from(error: FetchPayoutError) -> Self {
        match error {
            FetchPayoutError::NotFound => Self::new(ErrorCode::NotFound).saying("There is no such payout."),
            FetchPayoutError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            FetchPayoutError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            FetchPayoutError::Internal(cause) => Self::internal(cause),
        }
    }
}

//! `GET /v1/charges/{id}/refunds`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::refunds::list::{self, ListRefundsError};

use crate::call::Call;
use crate::charges;
use crate::error::{ApiError, ErrorCode};
use crate::paging::{self, STARTING_AFTER};
use crate::reply::Reply;
use crate::representation::refund::Refund;
use crate::representation::values::{Page, to_json};
use cais_strict_json::{Issue, Issues};

/// A page of a charge's refunds, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id, or at the parameter that breaks its rule; `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let charge = charges::in_path(call, &issues);
    let request = paging::only_page(call.query(), &issues);
    let (charge, request) = issues.unless_any(charge.zip(request))?;
    let page = list::list(&call.state.ports, &call.state.syncs, caller.account.id, &charge, request).await?;
    let rows = page.rows.iter().map(Refund::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|refund| &refund.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

impl From<ListRefundsError> for ApiError {
    fn from(error: ListRefundsError) -> Self {
        match error {
            ListRefundsError::NotFound => Self::new(ErrorCode::NotFound).saying("There is no such charge."),
            ListRefundsError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            ListRefundsError::UnknownCursor => {
                Self::invalid(vec![Issue::new(STARTING_AFTER, "names no refund of this charge")])
            }
            ListRefundsError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            ListRefundsError::Internal(cause) => Self::internal(cause),
        }
    }
}

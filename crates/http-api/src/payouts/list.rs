//! `GET /v1/payouts`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::list::{self, ListPayoutsError};

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::paging::{self, STARTING_AFTER};
use crate::reply::Reply;
use crate::representation::payout::Payout;
use crate::representation::values::{Page, to_json};
use cais_strict_json::{Issue, Issues};

/// A page of payouts, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the parameter that breaks its rule; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let request = paging::only_page(call.query(), &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, request).await?;
    let rows = page.rows.iter().map(Payout::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|payout| &payout.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

impl From<ListPayoutsError> for ApiError {
    fn from(error: ListPayoutsError) -> Self {
        match error {
            ListPayoutsError::UnknownCursor => {
                Self::invalid(vec![Issue::new(STARTING_AFTER, "names no payout of this account")])
            }
            ListPayoutsError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            ListPayoutsError::Internal(cause) => Self::internal(cause),
        }
    }
}

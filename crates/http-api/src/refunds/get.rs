//! `GET /v1/refunds/{id}`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::refunds::fetch::{self, FetchRefundError};

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::reply::Reply;
use cais_strict_json::Issues;

/// Returns one refund.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`, `external_id_in_progress`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = super::named(call, &issues);
    let name = issues.unless_any(name)?;
    let refund = fetch::fetch(&call.state.ports, &call.state.syncs, caller.account.id, &name).await?;
    Ok(Reply::json(call.state.ports.representation.refund(&refund)))
}

impl From<FetchRefundError> for ApiError {
    fn from(error: FetchRefundError) -> Self {
        match error {
            FetchRefundError::NotFound => Self::new(ErrorCode::NotFound).saying("There is no such refund."),
            FetchRefundError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            FetchRefundError::Store(trouble) => trouble.into(),
        }
    }
}

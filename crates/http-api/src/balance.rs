//! `GET /v1/balance`.

use cais_use_cases::balance;
use cais_use_cases::keys::authenticate::Caller;

use super::call::Call;
use super::error::ApiError;
use super::query;
use super::reply::Reply;
use crate::representation;
use cais_strict_json::Issues;

/// The account's balance.
///
/// # Errors
/// `VALIDATION_ERROR` for any parameter; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    issues.unless_any(Some(()))?;
    let balances = balance::read(&call.state.ports, caller.account.id).await?;
    representation::balance(&balances).map(Reply::json).map_err(|error| ApiError::internal(error.to_string()))
}

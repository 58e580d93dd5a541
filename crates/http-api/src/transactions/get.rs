//! `GET /v1/transactions/{id}`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::timeline;

use super::{read_id, shown};
use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::{percent, query};
use cais_strict_json::Issues;

/// One entry of the timeline.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let decoded = percent::decode(call.params.first());
    let id = decoded.ok_or_else(|| "is not validly percent-encoded UTF-8".to_owned()).and_then(|text| read_id(&text));
    let id = id.map_err(|complaint| issues.add("id", complaint)).ok();
    let (direction, key) = issues.unless_any(id)?;
    let found = timeline::find(&call.state.ports, caller.account.id, direction, key).await?;
    let found = found.ok_or(ApiError::new(ErrorCode::NotFound).saying("There is no such transaction."))?;
    Ok(Reply::json(to_json(&shown(&found)?)))
}

//! `GET /v1/transactions/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::timeline;

use super::{read_id, shown};
use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::routes::Route;
use crate::{percent, query};

/// The route of `get_transaction`.
pub const ROUTE: Route = Route::read(
    "/v1/transactions/{id}",
    Scope::TransactionsRead,
    |call, caller| Box::pin(get_transaction(call, caller)),
    description,
);

/// Returns an entry of the timeline.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`; an error of the store.
async fn get_transaction(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let decoded = percent::decode(call.params.first());
    let id = decoded.ok_or_else(|| "is not validly percent-encoded UTF-8".to_owned()).and_then(|text| read_id(&text));
    let id = id.map_err(|complaint| issues.add("id", complaint)).ok();
    let (direction, key) = issues.unless_any(id)?;
    let found = timeline::find(&call.state.ports, caller.account.id, direction, key).await?;
    let found = found.ok_or(ApiError::new(ErrorCode::NotFound).with_message("There is no such transaction."))?;
    Ok(Reply::json(to_json(&shown(&found)?)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..operation::plain(
            "getTransaction",
            "transactions",
            "Fetch an entry of the timeline",
            "As it is stored.",
            vec![operation::json("200", "The entry.", "Transaction", examples::transaction())],
        )
    }
}

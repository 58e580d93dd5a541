//! `GET /v1/infractions`.

use cais_domain::api_key::Scope;
use cais_domain::infraction::InfractionStatus;
use cais_strict_json::Issues;
use cais_use_cases::infractions::list;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::filters;
use crate::openapi::{examples, operation};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::query::Query;
use crate::reply::Reply;
use crate::representation::infraction::Infraction;
use crate::representation::values::{Page, to_json};
use crate::routes::Route;
use crate::statement::list_error;

/// The route of `list_infractions`.
pub const ROUTE: Route = Route::read(
    "/v1/infractions",
    Scope::InfractionsRead,
    |call, caller| Box::pin(list_infractions(call, caller)),
    description,
);

/// Returns a page of infractions without their defenses, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_infractions(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let query = Query::read(call.query(), &["status", LIMIT, STARTING_AFTER], &issues);
    let status = filters::word(&query, "status", &InfractionStatus::ALL, InfractionStatus::as_str, &issues);
    let request = paging::page(&query, &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, status, request).await;
    let page = page.map_err(|error| list_error(error, "names no infraction of this account"))?;
    let rows = page.rows.iter().map(Infraction::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|infraction| &infraction.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

fn description() -> operation::Description {
    let status = operation::word("status", "In one status.", InfractionStatus::ALL.map(InfractionStatus::as_str));
    operation::Description {
        parameters: std::iter::once(status).chain(operation::paging()).collect(),
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "listInfractions",
            "infractions",
            "List infractions",
            "Newest first, with cursor pagination.",
            vec![operation::json("200", "A page of infractions.", "InfractionPage", examples::infractions())],
        )
    }
}

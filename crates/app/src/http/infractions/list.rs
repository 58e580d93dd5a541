//! `GET /v1/infractions`.

use cais_domain::infraction::InfractionStatus;
use cais_use_cases::infractions::list;
use cais_use_cases::keys::authenticate::Caller;

use crate::http::call::Call;
use crate::http::error::ApiError;
use crate::http::filters;
use crate::http::issue::Issues;
use crate::http::paging::{self, LIMIT, STARTING_AFTER};
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::statement::list_error;
use crate::representation::{self, infraction};

/// A page of infractions without their defences, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the parameter that breaks its rule; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let query = Query::read(call.query(), &["status", LIMIT, STARTING_AFTER], &issues);
    let status = filters::word(&query, "status", &InfractionStatus::ALL, InfractionStatus::as_str, &issues);
    let request = paging::page(&query, &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, status, request).await;
    let page = page.map_err(|error| list_error(error, "names no infraction of this account"))?;
    let rows: Vec<Vec<u8>> = page.rows.iter().map(infraction::row).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|infraction| &infraction.id);
    Ok(Reply::json(representation::page(&rows, last)))
}

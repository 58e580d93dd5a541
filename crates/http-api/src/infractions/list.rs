//! `GET /v1/infractions`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::InfractionId;
use cais_domain::infraction::InfractionStatus;
use cais_ports::PageRequest;
use cais_strict_json::Issues;
use cais_use_cases::infractions::list;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::context::{Authorized, InfractionsRead};
use crate::describe::failures::Errors;
use crate::describe::{examples, parameters};
use crate::error::{ApiError, code};
use crate::input::{Input, Part, Parts};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::resources::infraction::{Infraction, InfractionPage};
use crate::resources::values::Page;
use crate::statement::list_error;
use crate::{filters, reply};

/// The status and the page that a query requests.
pub struct InfractionQuery {
    status: Option<InfractionStatus>,
    request: PageRequest<InfractionId>,
}

impl Part for InfractionQuery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let query = parts.query(&["status", LIMIT, STARTING_AFTER], issues);
        let status = filters::one_of(&query, "status", &InfractionStatus::ALL, InfractionStatus::as_str, issues);
        paging::page(&query, issues).map(|request| Self { status, request })
    }
}

impl IntoParams for InfractionQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let status = parameters::one_of(
            "status",
            "Only infractions in this status.",
            InfractionStatus::ALL.map(InfractionStatus::as_str),
        );
        std::iter::once(status).chain(parameters::paging()).collect()
    }
}

/// Returns a page of infractions without their defenses, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listInfractions",
    tag = "infractions",
    summary = "List infractions",
    description = "Newest first, with cursor pagination. Scope: `infractions:read`.",
    params(InfractionQuery),
    responses(
        (status = 200, description = "A page of infractions.", body = InfractionPage,
            example = json!(examples::infractions())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/infractions")]
pub async fn list_infractions(
    call: Authorized<InfractionsRead>,
    input: Input<InfractionQuery>,
) -> Result<HttpResponse, ApiError> {
    let Input(InfractionQuery { status, request }) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, status, request).await;
    let page = page.map_err(|error| list_error(error, "names no infraction of this account"))?;
    let rows = page.rows.iter().map(Infraction::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|infraction| &infraction.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}

//! `GET /v1/transactions`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::AccountId;
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{PageRequest, TransactionFilter};
use cais_strict_json::Issues;
use cais_use_cases::timeline::{self, Cursor, public_id};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::shown;
use crate::context::{Authorized, TransactionsRead};
use crate::csv::{self, DIALECT, File, Requested, Rows};
use crate::describe::failures::Errors;
use crate::describe::{examples, parameters};
use crate::error::{ApiError, code};
use crate::filters::{self, CREATED_FROM, CREATED_TO};
use crate::input::{Input, Part, Parts};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::reply;
use crate::resources::transaction::{TransactionPage, TransactionRow};
use crate::resources::values::Page;
use crate::state::AppState;
use crate::statement::list_error;

/// The query of the timeline: the requested transactions, and whether the response is a page or a file.
pub struct TransactionQuery {
    filter: TransactionFilter,
    requested: Requested<Cursor>,
}

impl Part for TransactionQuery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let known = ["type", "status", CREATED_FROM, CREATED_TO, LIMIT, STARTING_AFTER, DIALECT];
        let query = parts.query(&known, issues);
        let filter = TransactionFilter {
            direction: filters::one_of(&query, "type", &Direction::ALL, Direction::as_str, issues),
            status: filters::one_of(&query, "status", &TransactionStatus::ALL, TransactionStatus::as_str, issues),
            created: filters::created(&query, issues),
        };
        let requested =
            csv::requested(parts.headers(), &query, issues, || paging::page_after(&query, issues, timeline::parse_id));
        Some(Self { filter, requested: requested? })
    }
}

impl IntoParams for TransactionQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        csv::parameters(vec![
            parameters::one_of("type", "Only transactions in this direction.", Direction::ALL.map(Direction::as_str)),
            parameters::one_of(
                "status",
                "Only transactions in this status.",
                TransactionStatus::ALL.map(TransactionStatus::as_str),
            ),
        ])
    }
}

/// Returns a page of the timeline, newest first, or the whole timeline as CSV.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; `rate_limit_exceeded` while the account has an unfinished file; an error of the store.
#[utoipa::path(
    operation_id = "listTransactions",
    tag = "transactions",
    summary = "Read the timeline",
    description = "Charges, payouts and shares in other accounts' charges as one list, newest first, with cursor pagination. With `Accept: text/csv` the response is a file (RFC 4180) of all rows that match the filter. Such a request must not have `limit` or `starting_after`. Scope: `transactions:read`.",
    params(TransactionQuery),
    responses(
        (status = 200, description = "A page of the timeline.", content(
            (TransactionPage = "application/json", example = json!(examples::transactions())),
            ("text/csv", example = json!(examples::transactions_csv())),
        )),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/transactions")]
pub async fn list_transactions(
    call: Authorized<TransactionsRead>,
    input: Input<TransactionQuery>,
) -> Result<HttpResponse, ApiError> {
    let Input(query) = input;
    let TransactionQuery { filter, requested } = query;
    let account = call.caller.account.id;
    match requested {
        Requested::Page(page) => {
            let Rows { rows, next } = read(&call.state, account, filter, page).await?;
            Ok(reply::json(StatusCode::OK, &Page::new(rows, next.map(public_id))))
        }
        Requested::File(dialect) => {
            let state = Arc::clone(&call.state);
            let all = async move |starting_after| {
                read(&state, account, filter, PageRequest { limit: csv::ROWS, starting_after }).await
            };
            let disposition = "attachment; filename=\"transactions.csv\"";
            csv::file(&call, File { account, dialect, disposition }, all).await
        }
    }
}

async fn read(
    state: &AppState,
    account: AccountId,
    filter: TransactionFilter,
    page: PageRequest<Cursor>,
) -> Result<Rows<TransactionRow, Cursor>, ApiError> {
    let found = timeline::list(&state.ports, account, filter, page.limit, page.starting_after).await;
    let found = found.map_err(|error| list_error(error, "names no transaction of this account"))?;
    let rows = found.rows.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
    let next = rows.last().filter(|_| found.has_more).map(|row| row.cursor);
    Ok(Rows { rows, next })
}

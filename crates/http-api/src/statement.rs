//! `GET /v1/balance/entries`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_ports::{EntryFilter, PageRequest};
use cais_strict_json::{Issue, Issues};
use cais_use_cases::statement::{self, ListError};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::context::{Authorized, BalanceRead};
use crate::csv::{self, DIALECT, File, Requested, Rows};
use crate::describe::failures::Errors;
use crate::describe::{examples, parameters};
use crate::error::{ApiError, ErrorCode, code};
use crate::filters::{self, CREATED_FROM, CREATED_TO};
use crate::input::{Input, Part, Parts};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::reply;
use crate::resources::statement::{Entry, EntryPage};
use crate::resources::values::Page;
use crate::state::AppState;

/// The values of the filter `bucket`. A statement never contains entries of `in_transit`.
const BUCKETS: [Bucket; 3] = [Bucket::Available, Bucket::Pending, Bucket::Blocked];

/// The query of a statement: the requested entries, and whether the response is a page or a file.
pub struct EntryQuery {
    filter: EntryFilter,
    requested: Requested<EntryId>,
}

impl Part for EntryQuery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let known = ["bucket", "kind", CREATED_FROM, CREATED_TO, LIMIT, STARTING_AFTER, DIALECT];
        let query = parts.query(&known, issues);
        let filter = EntryFilter {
            bucket: filters::one_of(&query, "bucket", &BUCKETS, Bucket::as_str, issues),
            kind: filters::one_of(&query, "kind", &EntryKind::ALL, EntryKind::as_str, issues),
            created: filters::created(&query, issues),
        };
        let requested = csv::requested(parts.headers(), &query, issues, || paging::page(&query, issues));
        Some(Self { filter, requested: requested? })
    }
}

impl IntoParams for EntryQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        csv::parameters(vec![
            parameters::one_of("bucket", "Only entries of this part of the balance.", BUCKETS.map(Bucket::as_str)),
            parameters::one_of("kind", "Only entries of this kind.", EntryKind::ALL.map(EntryKind::as_str)),
        ])
    }
}

/// Returns a page of the statement, newest first, or the whole statement as CSV.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; `rate_limit_exceeded` while the account has an unfinished file; an error of the store.
#[utoipa::path(
    operation_id = "listBalanceEntries",
    tag = "balance",
    summary = "Read the statement",
    description = "Every movement of the balance, newest first, with cursor pagination. With `Accept: text/csv` the response is a file (RFC 4180) of all rows that match the filter. Such a request must not have `limit` or `starting_after`. In the file, a text that begins with `=`, `+`, `-` or `@` is preceded by an apostrophe. `?csv=excel-br` returns the file for Excel in Brazil: a byte order mark, semicolons, decimal commas, times of São Paulo. Scope: `balance:read`.",
    params(EntryQuery),
    responses(
        (status = 200, description = "A page of the statement.", content(
            (EntryPage = "application/json", example = json!(examples::entries())),
            ("text/csv", example = json!(examples::entries_csv())),
        )),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/balance/entries")]
pub async fn list_entries(call: Authorized<BalanceRead>, input: Input<EntryQuery>) -> Result<HttpResponse, ApiError> {
    let Input(query) = input;
    let EntryQuery { filter, requested } = query;
    let account = call.caller.account.id;
    match requested {
        Requested::Page(page) => {
            let Rows { rows, next } = read(&call.state, account, filter, page).await?;
            Ok(reply::json(StatusCode::OK, &Page::new(rows, next)))
        }
        Requested::File(dialect) => {
            let state = Arc::clone(&call.state);
            let all = async move |starting_after| {
                read(&state, account, filter, PageRequest { limit: csv::ROWS, starting_after }).await
            };
            let disposition = "attachment; filename=\"statement.csv\"";
            csv::file(&call, File { account, dialect, disposition }, all).await
        }
    }
}

async fn read(
    state: &AppState,
    account: AccountId,
    filter: EntryFilter,
    page: PageRequest<EntryId>,
) -> Result<Rows<Entry, EntryId>, ApiError> {
    let page = statement::list(&state.ports, account, filter, page).await.map_err(error)?;
    let next = page.rows.last().filter(|_| page.has_more).map(|entry| entry.id);
    Ok(Rows { rows: page.rows.into_iter().map(Entry::from).collect(), next })
}

fn error(error: ListError) -> ApiError {
    list_error(error, "names no entry of this account's statement")
}

/// Returns the error of a failed list; `unknown_cursor` is the message for an unknown cursor.
pub fn list_error(error: ListError, unknown_cursor: &'static str) -> ApiError {
    match error {
        ListError::UnknownCursor => ApiError::invalid(vec![Issue::new(STARTING_AFTER, unknown_cursor)]),
        ListError::Unavailable { retry_after_s } => {
            ApiError::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
        }
        ListError::Internal(cause) => ApiError::internal(cause),
    }
}

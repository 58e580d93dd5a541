//! `GET /v1/balance/entries`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_ports::{EntryFilter, PageRequest};
use cais_strict_json::{Issue, Issues};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::statement::{self, ListError};

use super::call::Call;
use super::csv::{self, DIALECT, File, Rows};
use super::error::{ApiError, ErrorCode};
use super::filters::{self, CREATED_FROM, CREATED_TO};
use super::paging::{self, LIMIT, STARTING_AFTER};
use super::query::Query;
use super::reply::Reply;
use super::state::AppState;
use crate::openapi::{examples, operation};
use crate::representation::statement::Entry;
use crate::representation::values::{Page, to_json};
use crate::routes::Route;

/// The parts of the balance in a statement; money in transit belongs to none.
const BUCKETS: [Bucket; 3] = [Bucket::Available, Bucket::Pending, Bucket::Blocked];

/// The route of `list_entries`.
pub const ROUTE: Route = Route::read(
    "/v1/balance/entries",
    Scope::BalanceRead,
    |call, caller| Box::pin(list_entries(call, caller)),
    description,
);

/// Returns a page of the statement, newest first, or the whole statement as CSV.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_entries(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let known = ["bucket", "kind", CREATED_FROM, CREATED_TO, LIMIT, STARTING_AFTER, DIALECT];
    let query = Query::read(call.query(), &known, &issues);
    let filter = EntryFilter {
        bucket: filters::word(&query, "bucket", &BUCKETS, Bucket::as_str, &issues),
        kind: filters::word(&query, "kind", &EntryKind::ALL, EntryKind::as_str, &issues),
        created: filters::created(&query, &issues),
    };
    let account = caller.account.id;
    match csv::wanted(&query, call.request.headers(), &issues) {
        None => {
            let page = paging::page(&query, &issues);
            let page = issues.unless_any(page)?;
            let Rows { rows, next } = read(call.state, account, filter, page).await?;
            Ok(Reply::json(to_json(&Page::new(rows, next))))
        }
        Some(dialect) => {
            csv::refuse_pages(&query, &issues);
            issues.unless_any(Some(()))?;
            let state = Arc::clone(call.state);
            let all = async move |starting_after| {
                read(&state, account, filter, PageRequest { limit: csv::ROWS, starting_after }).await
            };
            let disposition = "attachment; filename=\"statement.csv\"";
            csv::answer(call, File { account, dialect, disposition }, all).await
        }
    }
}

fn description() -> operation::Description {
    let mut parameters = vec![
        operation::word("bucket", "Of one part of the money.", ["available", "pending", "blocked"]),
        operation::word("kind", "Of one kind.", EntryKind::ALL.map(EntryKind::as_str)),
    ];
    parameters.extend(operation::created().into_iter().chain(operation::paging()));
    parameters.push(operation::word(
        "csv",
        "A file of all rows in this dialect, whatever `Accept` says.",
        ["excel-br"],
    ));
    operation::Description {
        parameters,
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "listBalanceEntries",
            "balance",
            "Read the statement",
            "Every movement of the balance, newest first, with cursor pagination. With `Accept: text/csv` all rows of the filter in one file (RFC 4180): then without `limit` and `starting_after`. A text that begins with `=`, `+`, `-` or `@` gets an apostrophe before it. `?csv=excel-br` gives the file as Excel reads it in Brazil: a byte order mark, semicolons, decimal commas, times of São Paulo.",
            vec![operation::with_csv(
                "A page of the statement.",
                "EntryPage",
                examples::entries(),
                examples::entries_csv(),
            )],
        )
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

/// Maps the error of a list; `unknown_cursor` is the message for an unknown cursor.
pub fn list_error(error: ListError, unknown_cursor: &'static str) -> ApiError {
    match error {
        ListError::UnknownCursor => ApiError::invalid(vec![Issue::new(STARTING_AFTER, unknown_cursor)]),
        ListError::Unavailable { retry_after_s } => {
            ApiError::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
        }
        ListError::Internal(cause) => ApiError::internal(cause),
    }
}

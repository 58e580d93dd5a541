//! `GET /v1/transactions`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_domain::ids::AccountId;
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{PageRequest, TransactionFilter};
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::timeline;

use super::{read_id, shown};
use crate::call::Call;
use crate::csv::{self, DIALECT, File, Rows};
use crate::error::{ApiError, ErrorCode};
use crate::filters::{self, CREATED_FROM, CREATED_TO};
use crate::openapi::{examples, operation};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::query::Query;
use crate::reply::Reply;
use crate::representation::transaction::{Cursor, TransactionRow, public_id};
use crate::representation::values::{Page, to_json};
use crate::routes::Route;
use crate::state::AppState;
use crate::statement::list_error;

/// The route of `list_transactions`.
pub const ROUTE: Route = Route::read(
    "/v1/transactions",
    Scope::TransactionsRead,
    |call, caller| Box::pin(list_transactions(call, caller)),
    description,
);

/// Returns a page of the timeline, newest first, or the whole timeline as CSV.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_transactions(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let known = ["type", "status", CREATED_FROM, CREATED_TO, LIMIT, STARTING_AFTER, DIALECT];
    let query = Query::read(call.query(), &known, &issues);
    let filter = TransactionFilter {
        direction: filters::word(&query, "type", &Direction::ALL, Direction::as_str, &issues),
        status: filters::word(&query, "status", &TransactionStatus::ALL, TransactionStatus::as_str, &issues),
        created: filters::created(&query, &issues),
    };
    let account = caller.account.id;
    match csv::wanted(&query, call.request.headers(), &issues) {
        None => {
            let page = paging::page_after(&query, &issues, read_id);
            let page = issues.unless_any(page)?;
            let Rows { rows, next } = read(call.state, account, filter, page).await?;
            Ok(Reply::json(to_json(&Page::new(rows, next.map(public_id)))))
        }
        Some(dialect) => {
            csv::refuse_pages(&query, &issues);
            issues.unless_any(Some(()))?;
            let state = Arc::clone(call.state);
            let all = async move |starting_after| {
                read(&state, account, filter, PageRequest { limit: csv::ROWS, starting_after }).await
            };
            let disposition = "attachment; filename=\"transactions.csv\"";
            csv::answer(call, File { account, dialect, disposition }, all).await
        }
    }
}

fn description() -> operation::Description {
    let mut parameters = vec![
        operation::word("type", "In one direction.", Direction::ALL.map(Direction::as_str)),
        operation::word("status", "In one status.", TransactionStatus::ALL.map(TransactionStatus::as_str)),
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
            "listTransactions",
            "transactions",
            "Read the timeline",
            "Charges, payouts and shares in other accounts' charges as one list, newest first, with cursor pagination. With `Accept: text/csv` all rows of the filter in one file (RFC 4180): then without `limit` and `starting_after`.",
            vec![operation::with_csv(
                "A page of the timeline.",
                "TransactionPage",
                examples::transactions(),
                examples::transactions_csv(),
            )],
        )
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

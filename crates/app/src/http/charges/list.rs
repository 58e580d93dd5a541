//! `GET /v1/charges`.

use cais_domain::ids::ChargeId;
use cais_ports::PageRequest;
use cais_use_cases::charges::list::{self, ListChargesError};
use cais_use_cases::keys::authenticate::Caller;

use crate::http::call::Call;
use crate::http::error::{ApiError, ErrorCode};
use crate::http::issue::{Issue, Issues};
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::representation;

/// Rows of a page that names no limit.
const DEFAULT_LIMIT: u32 = 50;
/// Rows of the largest page.
const MAX_LIMIT: u32 = 200;
/// Rows that are rendered before others get their turn: an image that is not remembered takes a tenth of a millisecond.
const ROWS_PER_TURN: usize = 16;

/// A page of charges, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the parameter that breaks its rule; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let request = page_request(call.query())?;
    let page = list::list(&call.state.ports, caller.account.id, request).await?;
    let mut rows = Vec::with_capacity(page.rows.len());
    for turn in page.rows.chunks(ROWS_PER_TURN) {
        rows.extend(turn.iter().map(|charge| call.state.ports.representation.charge(charge)));
        tokio::task::yield_now().await;
    }
    let last = page.rows.last().filter(|_| page.has_more).map(|charge| &charge.id);
    Ok(Reply::json(representation::page(&rows, last)))
}

fn page_request(query: &str) -> Result<PageRequest<ChargeId>, ApiError> {
    let issues = Issues::default();
    let query = Query::read(query, &["limit", "starting_after"], &issues);
    let limit = query.get("limit").map_or(Some(DEFAULT_LIMIT), limit);
    if limit.is_none() {
        issues.add("limit", format!("must be an integer from 1 to {MAX_LIMIT}"));
    }
    let starting_after = query.get("starting_after").map(ChargeId::parse).transpose();
    if let Err(error) = starting_after {
        issues.add("starting_after", error.to_string());
    }
    let page = limit.zip(starting_after.ok()).map(|(limit, starting_after)| PageRequest { limit, starting_after });
    issues.unless_any(page)
}

/// Digits only: a sign or a blank is somebody's mistake.
fn limit(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|limit| (1..=MAX_LIMIT).contains(limit))
}

impl From<ListChargesError> for ApiError {
    fn from(error: ListChargesError) -> Self {
        match error {
            ListChargesError::UnknownCursor => {
                Self::invalid(vec![Issue::new("starting_after", "names no charge of this account")])
            }
            ListChargesError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            ListChargesError::Internal(cause) => Self::internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_to_their_rules() {
        for (query, expected) in [
            ("", Some((50, false))),
            ("limit=1", Some((1, false))),
            ("limit=200&starting_after=chg_01h455vb4pex5vsknk084sn02q", Some((200, true))),
            ("limit=0", None),
            ("limit=201", None),
            ("limit=", None),
            ("limit=+5", None),
            ("limit=5.0", None),
            ("limit=5&limit=5", None),
            ("starting_after=", None),
            ("starting_after=chg_x", None),
            ("status=paid", None),
        ] {
            let found = page_request(query).ok().map(|page| (page.limit, page.starting_after.is_some()));
            assert_eq!(found, expected, "{query}");
        }
    }
}

//! Cursor pagination: the number of rows in a page, and the cursor, which names the row before the page.

use cais_domain::ids::{Id, IdKind};
use cais_ports::PageRequest;
use cais_strict_json::Issues;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::describe::parameters;
use super::input::{Part, Parts};
use super::query::Query;

/// The parameter for the number of rows in a page.
pub const LIMIT: &str = "limit";
/// The parameter for the id of the last row of the previous page.
pub const STARTING_AFTER: &str = "starting_after";
/// The number of rows in a page without `limit`.
pub const DEFAULT_LIMIT: u32 = 50;
/// The largest `limit`.
pub const MAX_LIMIT: u32 = 200;

/// Returns the page that a query requests. If a parameter is invalid, adds the problem to `issues` and returns `None`.
#[must_use]
pub fn page<K: IdKind>(query: &Query, issues: &Issues) -> Option<PageRequest<Id<K>>> {
    page_after(query, issues, |text| Id::parse(text).map_err(|error| error.to_string()))
}

/// Returns the page that a query requests, as [`page`] does. `cursor` parses the value of `starting_after`.
#[must_use]
pub fn page_after<C>(
    query: &Query,
    issues: &Issues,
    cursor: impl FnOnce(&str) -> Result<C, String>,
) -> Option<PageRequest<C>> {
    let limit = query.get(LIMIT).map_or(Some(DEFAULT_LIMIT), rows);
    if limit.is_none() {
        issues.add(LIMIT, format!("must be an integer from 1 to {MAX_LIMIT}"));
    }
    let starting_after = query.get(STARTING_AFTER).map(cursor).transpose();
    let starting_after = starting_after.map_err(|problem| issues.add(STARTING_AFTER, problem));
    limit.zip(starting_after.ok()).map(|(limit, starting_after)| PageRequest { limit, starting_after })
}

/// The requested page of a list that has no filters.
#[derive(Debug)]
pub struct PageQuery<K: IdKind>(pub PageRequest<Id<K>>);

impl<K: IdKind> Part for PageQuery<K> {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        page(&parts.query(&[LIMIT, STARTING_AFTER], issues), issues).map(Self)
    }
}

impl<K: IdKind> IntoParams for PageQuery<K> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::paging()
    }
}

/// Parses a `limit`: only digits, from 1 to [`MAX_LIMIT`].
fn rows(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|limit| (1..=MAX_LIMIT).contains(limit))
}

#[cfg(test)]
mod tests {
    use cais_domain::ids::kind::Charge;

    use super::*;

    #[test]
    fn paging_parameters_are_accepted_or_rejected_by_rule() {
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
            ("starting_after=pyt_01h455vb4pex5vsknk084sn02q", None),
            ("status=paid", None),
        ] {
            let issues = Issues::default();
            let page = page::<Charge>(&Query::read(query, &[LIMIT, STARTING_AFTER], &issues), &issues);
            let found = page.filter(|_| issues.is_empty()).map(|page| (page.limit, page.starting_after.is_some()));
            assert_eq!(found, expected, "{query}");
        }
    }
}

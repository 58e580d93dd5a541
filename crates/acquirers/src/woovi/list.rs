//! Pages of Woovi's lists: `start`, `end`, `skip` and `limit`, with `pageInfo` in the answer.

use std::collections::BTreeMap;

use cais_ports::{AcquirerError, ListRequest, UnreadableRow, UpstreamPage};
use jiff::RoundMode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::refusal;
use crate::bacen::list::whole_second;
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part, text};

/// The field with the position and the size of the page.
const PAGE_INFO: &str = "pageInfo";
/// The longest kept identifier of an unreadable row, in characters.
const MAX_NAME_CHARS: usize = 64;

/// A list of the API.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    /// The path. A filter that every request has may follow, as in `/transaction?type=REFUND`.
    pub(super) path: &'static str,
    /// The field of the rows.
    pub(super) field: &'static str,
    /// The requested number of rows on a page, at most the documented 100.
    pub(super) per_page: u32,
    /// The JSON pointers to identifiers in a row, the most specific first. An unreadable row is reported by the first one that it has.
    pub(super) names: &'static [&'static str],
}

#[derive(Deserialize)]
struct Paging<'a> {
    #[serde(borrow)]
    skip: Option<&'a RawValue>,
    limit: Option<&'a RawValue>,
    #[serde(rename = "hasNextPage")]
    has_next: Option<bool>,
}

/// Requests a page of a period. `row` parses a row at a position, and returns `None` for a row that cannot be ours.
/// Unreadable rows are reported on the page beside the readable ones.
pub(super) async fn page<T>(
    api: &Api,
    list: List,
    request: ListRequest,
    deadline: Deadline,
    row: impl FnMut(&str, &RawValue) -> Result<Option<T>, Defect>,
) -> Result<UpstreamPage<T>, AcquirerError> {
    let (start, end) = (whole_second(request.from, RoundMode::Floor), whole_second(request.to, RoundMode::Ceil));
    let page = fetch(api, list, &[("start", &start), ("end", &end)], request.page, deadline, row).await;
    page.map_err(FindError::of_a_read)
}

/// Requests a page of the rows that `filter` selects.
pub(super) async fn fetch<T>(
    api: &Api,
    list: List,
    filter: &[(&str, &str)],
    number: u32,
    deadline: Deadline,
    row: impl FnMut(&str, &RawValue) -> Result<Option<T>, Defect>,
) -> Result<UpstreamPage<T>, FindError> {
    let skip = number.saturating_mul(list.per_page);
    let (skip_text, limit) = (skip.to_string(), list.per_page.to_string());
    let query = [filter, &[("skip", skip_text.as_str()), ("limit", limit.as_str())]].concat();
    let reply = api.get_list(list.path, &query, deadline).await?;
    Ok(read(reply.success(refusal::of_reply)?, list, number, row)?)
}

fn read<T>(
    body: &[u8],
    list: List,
    number: u32,
    mut row: impl FnMut(&str, &RawValue) -> Result<Option<T>, Defect>,
) -> Result<UpstreamPage<T>, Defect> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a list".to_owned()))?;
    let values: Vec<&RawValue> =
        part(fields.get(list.field).copied()).ok_or_else(|| Defect::mismatch(list.field, "is missing"))?;
    let next = following(part(fields.get(PAGE_INFO).copied()).as_ref(), number, (values.len(), list))?;
    let (mut rows, mut unreadable) = (Vec::with_capacity(values.len()), Vec::new());
    for (index, value) in values.iter().enumerate() {
        let place = format!("{}[{index}]", list.field);
        match row(&place, value) {
            Ok(read) => rows.extend(read),
            Err(defect) => {
                let name = name(value, list.names).unwrap_or(place);
                unreadable.push(UnreadableRow { name, reason: defect.reason() });
            }
        }
    }
    Ok(UpstreamPage { rows, unreadable, next, pages: None })
}

/// Returns the first identifier in the row.
fn name(row: &RawValue, pointers: &[&str]) -> Option<String> {
    let row: serde_json::Value = serde_json::from_str(row.get()).ok()?;
    pointers.iter().find_map(|pointer| line(row.pointer(pointer)?.as_str()?, MAX_NAME_CHARS))
}

/// Returns the number of the page after page `number`; `None` after the last page.
///
/// The next request skips whole pages of the requested size. A page of another size would hide rows, so it is refused unless it is the last
/// page. Without `pageInfo` only an empty page is the last.
fn following(paging: Option<&Paging<'_>>, number: u32, (rows, list): (usize, List)) -> Result<Option<u32>, Defect> {
    let count = |value: Option<&RawValue>| match value.and_then(text) {
        None => Ok(None),
        Some(text) => text.parse::<u32>().map(Some).map_err(|_| Defect::mismatch(PAGE_INFO, "has no numbers")),
    };
    let (skip, limit, has_next) = match paging {
        Some(paging) => (count(paging.skip)?, count(paging.limit)?, paging.has_next),
        None => (None, None, None),
    };
    if skip.is_some_and(|skip| skip != number.saturating_mul(list.per_page)) {
        return Err(Defect::mismatch(PAGE_INFO, "is of another page"));
    }
    if rows == 0 || !has_next.unwrap_or(true) {
        return Ok(None);
    }
    let is_full = usize::try_from(list.per_page).is_ok_and(|full| rows == full);
    if !is_full || limit.is_some_and(|limit| limit != list.per_page) {
        return Err(Defect::mismatch(PAGE_INFO, "has another page size than the requested one"));
    }
    Ok(Some(number.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::{List, read};

    const LIST: List = List { path: "/x", field: "rows", per_page: 2, names: &["/a/id", "/id"] };

    #[test]
    fn next_page_follows_from_page_info() {
        for (body, number, wanted) in [
            (r#"{"pageInfo":{"skip":0,"limit":2,"hasNextPage":true},"rows":[1,2]}"#, 0, Some((2, Some(1)))),
            (r#"{"pageInfo":{"skip":2,"limit":2,"hasNextPage":true},"rows":[1,2]}"#, 1, Some((2, Some(2)))),
            (r#"{"pageInfo":{"skip":"2","limit":"2","hasNextPage":true},"rows":[1,2]}"#, 1, Some((2, Some(2)))),
            (r#"{"pageInfo":{"skip":2,"limit":2,"hasNextPage":false},"rows":[1]}"#, 1, Some((1, None))),
            (r#"{"pageInfo":{"skip":0,"limit":2,"hasNextPage":true},"rows":[]}"#, 0, Some((0, None))),
            // These answers are refused: a page of another request, and pages that would hide rows.
            (r#"{"pageInfo":{"skip":2,"limit":2,"hasNextPage":false},"rows":[1]}"#, 0, None),
            (r#"{"pageInfo":{"skip":0,"limit":1,"hasNextPage":true},"rows":[1]}"#, 0, None),
            (r#"{"pageInfo":{"skip":0,"hasNextPage":true},"rows":[1]}"#, 0, None),
            (r#"{"pageInfo":{"skip":0,"limit":10,"hasNextPage":true},"rows":[1,2]}"#, 0, None),
            (r#"{"pageInfo":{"skip":"x"},"rows":[]}"#, 0, None),
            // A page without `pageInfo` is the last only if it is empty.
            (r#"{"rows":[1,2]}"#, 0, Some((2, Some(1)))),
            (r#"{"rows":[1]}"#, 0, None),
            (r#"{"rows":[]}"#, 3, Some((0, None))),
            (r#"{"pageInfo":{"skip":0}}"#, 0, None),
            (r#"{"rows":{}}"#, 0, None),
            ("[]", 0, None),
        ] {
            let page = read(body.as_bytes(), LIST, number, |_, row| Ok(Some(row.get().to_owned())));
            assert_eq!(page.ok().map(|page| (page.rows.len(), page.next)), wanted, "{body} {number}");
        }
    }

    #[test]
    fn unreadable_row_is_reported_by_its_identifier() {
        let body = r#"{"pageInfo":{"hasNextPage":false},"rows":[{"a":{"id":"x"},"id":"y"},{"id":"y"},7]}"#;
        let refuse = |place: &str, _: &_| Err::<Option<()>, _>(super::Defect::mismatch(place, "is wrong"));
        let page = read(body.as_bytes(), LIST, 0, refuse);
        let names = page.ok().map(|page| page.unreadable.into_iter().map(|row| row.name).collect::<Vec<_>>());
        assert_eq!(names, Some(vec!["x".to_owned(), "y".to_owned(), "rows[2]".to_owned()]));
    }
}

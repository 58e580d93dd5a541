//! Pages of the lists of the API Pix: requests, rows and paging.

use cais_ports::{AcquirerError, ListRequest, UnreadableRow, UpstreamPage};
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::wire::line;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, of_reply};

/// The number of rows in a page if a request contains no number (API Pix).
const DEFAULT_PAGE: u32 = 100;

/// The kind of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    Pix,
    Infractions,
}

impl Rows {
    /// Returns the name of the field that contains the rows.
    const fn field(self) -> &'static str {
        match self {
            Self::Pix => "pix",
            Self::Infractions => "infracoes",
        }
    }

    /// Returns the requested number of rows in a page. For Pix it is the standard's maximum, so that one page shows the Pix of many
    /// callbacks. Infractions have long texts, so only a few of them fit into the largest accepted answer.
    const fn per_page(self) -> u32 {
        match self {
            Self::Pix => 1_000,
            Self::Infractions => 40,
        }
    }
}

/// The fields that identify a row, the most specific first.
const NAMES: [&str; 4] = ["idInfracao", "idEnvio", "endToEndId", "txid"];
/// The longest kept identifier of an unreadable row, in characters: longer than any identifier of the API Pix.
const MAX_NAME_CHARS: usize = 64;

/// An answer that contains a page. Each row is parsed separately, so that one unreadable row does not affect the others.
#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    parametros: Option<Parameters<'a>>,
    pix: Option<Vec<&'a RawValue>>,
    infracoes: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Parameters<'a> {
    #[serde(borrow)]
    paginacao: Option<Paging<'a>>,
}

/// The paging of an answer. Some institutions write its numbers as strings.
#[derive(Deserialize)]
struct Paging<'a> {
    #[serde(borrow, rename = "paginaAtual")]
    number: Option<&'a RawValue>,
    #[serde(borrow, rename = "quantidadeDePaginas")]
    pages: Option<&'a RawValue>,
}

/// Requests a page of the list at `path`. `row` receives a row and its position, and returns `None` for a row that cannot
/// be ours. The page also reports the unreadable rows.
pub(crate) async fn page<T>(
    api: &Api,
    (path, of): (&str, Rows),
    request: ListRequest,
    deadline: Deadline,
    row: impl FnMut(&str, &RawValue) -> Result<Option<T>, Defect>,
) -> Result<UpstreamPage<T>, AcquirerError> {
    let (from, to) = (whole_second(request.from, RoundMode::Floor), whole_second(request.to, RoundMode::Ceil));
    let (number, rows) = (request.page.to_string(), of.per_page().to_string());
    let query = [
        ("inicio", from.as_str()),
        ("fim", to.as_str()),
        ("paginacao.paginaAtual", number.as_str()),
        ("paginacao.itensPorPagina", rows.as_str()),
    ];
    let reply = api.get_page(path, &query, deadline).await?;
    let body = reply.success(of_reply).map_err(FindError::of_a_read)?;
    read(body, request.page, of, row).map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()))
}

fn read<T>(
    body: &[u8],
    requested_page: u32,
    of: Rows,
    mut row: impl FnMut(&str, &RawValue) -> Result<Option<T>, Defect>,
) -> Result<UpstreamPage<T>, Defect> {
    let list: List<'_> = serde_json::from_slice(body)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a list".to_owned()))?;
    let values = match of {
        Rows::Pix => list.pix,
        Rows::Infractions => list.infracoes,
    };
    let values = values.ok_or_else(|| Defect::mismatch(of.field(), "is missing"))?;
    let (next, pages) =
        following(list.parametros.and_then(|parameters| parameters.paginacao), requested_page, (values.len(), of))?;
    let (mut rows, mut unreadable) = (Vec::with_capacity(values.len()), Vec::new());
    for (index, value) in values.iter().enumerate() {
        let place = format!("{}[{index}]", of.field());
        match row(&place, value) {
            Ok(read) => rows.extend(read),
            Err(defect) => {
                unreadable.push(UnreadableRow { name: name(value).unwrap_or(place), reason: defect.reason() });
            }
        }
    }
    Ok(UpstreamPage { rows, unreadable, next, pages })
}

/// Returns the value of the first field of [`NAMES`] that the row has.
fn name(row: &RawValue) -> Option<String> {
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(row.get()).ok()?;
    NAMES.iter().find_map(|name| line(fields.get(*name)?.as_str()?, MAX_NAME_CHARS))
}

/// Returns the number of the page after `requested_page`, and the count of pages. If the answer has no count, a page
/// with at least [`DEFAULT_PAGE`] rows (or the requested number, if that is smaller) has a next page. An empty page
/// never has a next page.
fn following(
    paging: Option<Paging<'_>>,
    requested_page: u32,
    (rows, of): (usize, Rows),
) -> Result<(Option<u32>, Option<u32>), Defect> {
    const FIELD: &str = "parametros.paginacao";
    let number = |value: Option<&RawValue>| match value.map(|value| value.get().trim_matches('"')) {
        None | Some("null") => Ok(None),
        Some(text) => text.parse::<u32>().map(Some).map_err(|_| Defect::mismatch(FIELD, "has no numbers")),
    };
    let (current, pages) = match paging {
        Some(paging) => (number(paging.number)?, number(paging.pages)?),
        None => (None, None),
    };
    // If another page were accepted, rows would be missed, or the read would never end.
    if current.is_some_and(|current| current != requested_page) {
        return Err(Defect::mismatch(FIELD, "is of another page"));
    }
    let following = requested_page.saturating_add(1);
    let is_more = match pages {
        Some(pages) => following < pages,
        // An institution may return the standard's default size instead of the requested one.
        None => u32::try_from(rows).unwrap_or(u32::MAX) >= of.per_page().min(DEFAULT_PAGE),
    };
    Ok(((is_more && rows > 0).then_some(following), pages))
}

/// Rounds to whole seconds, because some institutions reject fractions. Callers round the start of a period down and its end up, because
/// a duplicate row is better than a missed row.
pub(crate) fn whole_second(at: Timestamp, mode: RoundMode) -> String {
    at.round(TimestampRound::new().smallest(Unit::Second).mode(mode)).unwrap_or(at).to_string()
}

#[cfg(test)]
mod tests {
    use jiff::RoundMode;

    use super::{Rows, read, whole_second};

    #[test]
    fn next_page_follows_from_the_page_count() {
        let full = vec!["1"; 100].join(",");
        let paging = |text: &str| format!(r#"{{"parametros":{{"paginacao":{text}}},"pix":[1]}}"#);
        for (body, requested_page, wanted) in [
            (paging(r#"{"paginaAtual":0,"quantidadeDePaginas":3}"#), 0, Some((1, Some(1), Some(3)))),
            (paging(r#"{"paginaAtual":1,"quantidadeDePaginas":3}"#), 1, Some((1, Some(2), Some(3)))),
            (paging(r#"{"paginaAtual":"2","quantidadeDePaginas":"3"}"#), 2, Some((1, None, Some(3)))),
            (paging(r#"{"paginaAtual":0,"quantidadeDePaginas":1}"#), 0, Some((1, None, Some(1)))),
            (paging(r#"{"paginaAtual":0,"quantidadeDePaginas":0}"#), 0, Some((1, None, Some(0)))),
            (paging(r#"{"paginaAtual":0,"quantidadeDePaginas":3}"#), 1, None),
            (paging(r#"{"paginaAtual":1.5}"#), 1, None),
            (paging(r#"{"quantidadeDePaginas":"many"}"#), 0, None),
            (paging("{}"), 0, Some((1, None, None))),
            (paging("null"), 7, Some((1, None, None))),
            (format!(r#"{{"pix":[{full}]}}"#), 7, Some((100, Some(8), None))),
            (r#"{"pix":[]}"#.to_owned(), 0, Some((0, None, None))),
            (
                r#"{"parametros":{"paginacao":{"quantidadeDePaginas":9}},"pix":[]}"#.to_owned(),
                0,
                Some((0, None, Some(9))),
            ),
            (r#"{"parametros":{}}"#.to_owned(), 0, None),
            ("{}".to_owned(), 0, None),
            (r#"{"pix":{}}"#.to_owned(), 0, None),
            ("<html>".to_owned(), 0, None),
        ] {
            let page = read(body.as_bytes(), requested_page, Rows::Pix, |_, row| Ok(Some(row.get().to_owned())));
            let found = page.ok().map(|page| (page.rows.len(), page.next, page.pages));
            assert_eq!(found, wanted, "{body} {requested_page}");
        }
    }

    #[test]
    fn span_is_widened_to_whole_seconds() {
        for (text, from, to) in [
            ("2026-11-20T15:00:00Z", "2026-11-20T15:00:00Z", "2026-11-20T15:00:00Z"),
            ("2026-11-20T15:00:00.000001Z", "2026-11-20T15:00:00Z", "2026-11-20T15:00:01Z"),
            ("2026-11-20T15:00:59.999999Z", "2026-11-20T15:00:59Z", "2026-11-20T15:01:00Z"),
        ] {
            let at = text.parse().unwrap_or_default();
            assert_eq!(
                (whole_second(at, RoundMode::Floor), whole_second(at, RoundMode::Ceil)),
                (from.into(), to.into())
            );
        }
    }
}

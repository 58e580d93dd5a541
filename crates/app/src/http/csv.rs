//! Lists as CSV: all rows of a filter, read page by page as the caller takes them, so that memory does not grow with their number.

use std::error::Error;
use std::fmt;

use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use futures_util::stream::{StreamExt as _, once, try_unfold};

use super::call::Call;
use super::error::ApiError;
use super::issue::Issues;
use super::paging::{LIMIT, STARTING_AFTER};
use super::query::Query;
use super::reply::Reply;
use crate::representation::csv::header;
use crate::representation::row::Row;

/// Rows that are read at a time: a page is about 100 KiB.
pub const ROWS: u32 = 500;
/// Room for a line.
const LINE_BYTES: usize = 256;
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8; header=present");

/// Some rows, and after which of them the next ones begin; `None` when these are the last.
pub struct Rows<R, C> {
    /// The rows, newest first.
    pub rows: Vec<R>,
    /// The cursor of the last row.
    pub next: Option<C>,
}

/// Refuses the parameters of pages: a file has all rows.
pub fn refuse_pages(query: &Query, issues: &Issues) {
    for name in [LIMIT, STARTING_AFTER].into_iter().filter(|name| query.get(name).is_some()) {
        issues.add(name, "cannot be given with text/csv, which has all rows");
    }
}

/// A file of all rows that `read` gives, called with the cursor of the last row so far.
///
/// # Errors
/// What `read` says of the first rows; when later ones fail, the connection is cut, so that nobody takes what came for all.
pub async fn answer<R, C, F>(call: &Call<'_>, read: F) -> Result<Reply, ApiError>
where
    R: Row + 'static,
    C: 'static,
    F: AsyncFn(Option<C>) -> Result<Rows<R, C>, ApiError> + 'static,
{
    let Rows { rows, next } = read(None).await?;
    if call.request.method() == Method::HEAD {
        return Ok(Reply::typed(CSV, Bytes::new()));
    }
    let mut beginning = header(R::NAMES);
    write(&mut beginning, &rows);
    drop(rows);
    let request = call.id;
    let rest = try_unfold((read, next), move |(read, next)| async move {
        let Some(cursor) = next else { return Ok(None) };
        let Rows { rows, next } = read(Some(cursor)).await.map_err(|error| {
            tracing::error!(%request, code = error.code.name(), cause = error.cause, "a file was cut off");
            CutOff
        })?;
        let mut text = Vec::new();
        write(&mut text, &rows);
        Ok(Some((Bytes::from(text), (read, next))))
    });
    Ok(Reply::streamed(CSV, once(async { Ok::<_, CutOff>(Bytes::from(beginning)) }).chain(rest)))
}

fn write<R: Row>(out: &mut Vec<u8>, rows: &[R]) {
    out.reserve(rows.len().saturating_mul(LINE_BYTES));
    for row in rows {
        row.write_csv(out);
    }
}

/// Rows could not be read after the answer had begun.
#[derive(Debug)]
struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the rows could not be read to their end")
    }
}

impl Error for CutOff {}

//! Lists as CSV: all rows that match a filter. A page is read only when the caller has received the previous page, so memory does not grow
//! with the number of rows.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, HeaderMap, HeaderValue};
use actix_web::web::Bytes;
use cais_domain::ids::AccountId;
use cais_ports::PageRequest;
use cais_strict_json::Issues;
use cais_use_cases::export_places::{ExportPlace, ExportPlaces};
use futures_util::stream::{StreamExt as _, once, try_unfold};
use tokio::sync::Semaphore;
use utoipa::openapi::path::Parameter;

use crate::accept::{self, Format};
use crate::context::Authorized;
use crate::describe::parameters;
use crate::error::{ApiError, ErrorCode};
use crate::paging::{LIMIT, STARTING_AFTER};
use crate::query::Query;
use crate::resources::csv::{Dialect, Row, lines};
use crate::{filters, reply};

/// Rows per read, which is the largest page of the store. A page has about 40 KiB.
pub const ROWS: u32 = 200;
/// Limit of concurrent page reads for files in one process. With the default settings, at least half of the read connections
/// stay free for other requests. A read ends before its page is sent, so a slow caller does not delay other files.
const PAGES_AT_ONCE: usize = 2;
/// Seconds until an account with an unfinished file may retry.
const RETRY_AFTER_S: u32 = 5;
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8; header=present");

/// A file that an account requested.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// The account whose rows the file has.
    pub account: AccountId,
    /// The dialect: the separators, and the forms of amounts and times.
    pub dialect: Dialect,
    /// The value of the header `Content-Disposition`, with the file's name.
    pub disposition: &'static str,
}

impl File {
    /// Adds the file's name to a response in the dialect for Excel. A browser can request only this dialect by a link ([`DIALECT`]), and
    /// saves the file under that name.
    fn named(self, mut response: HttpResponse) -> HttpResponse {
        if self.dialect == Dialect::ExcelBr {
            response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static(self.disposition));
        }
        response
    }
}

/// Rows of a file that one read returned.
pub struct Rows<R, C> {
    /// The rows, newest first.
    pub rows: Vec<R>,
    /// The cursor of the last row, after which the next read begins; `None` if no further rows exist.
    pub next: Option<C>,
}

/// The limits of files: one unfinished file per account, and `PAGES_AT_ONCE` page reads at a time. Clones share the limits.
#[derive(Debug, Clone)]
pub struct Exports {
    places: ExportPlaces,
    pages: Arc<Semaphore>,
}

impl Exports {
    /// Returns the limits. The dashboard shares `places`, so that its files count too.
    #[must_use]
    pub fn new(places: ExportPlaces) -> Self {
        Self { places, pages: Arc::new(Semaphore::new(PAGES_AT_ONCE)) }
    }

    /// Reserves the account's place for a file until the returned value is dropped.
    fn enter(&self, account: AccountId) -> Result<ExportPlace, ApiError> {
        self.places.enter(account).ok_or_else(|| {
            let error = ApiError::new(ErrorCode::RateLimitExceeded).retry_after(RETRY_AFTER_S);
            error.with_message("Another file of this account is still being read: read that file to its end first.")
        })
    }

    /// Waits until fewer than [`PAGES_AT_ONCE`] page reads are running, and then reads a page.
    async fn page<T>(&self, read: impl Future<Output = T>) -> T {
        // The semaphore is never closed. If it were, the page would be read without a permit.
        let _turn = self.pages.acquire().await.ok();
        read.await
    }
}

/// The parameter that requests a file in the named dialect, regardless of `Accept`, so that a link in a browser can request a file.
pub const DIALECT: &str = "csv";

/// The form of a list: a page of JSON, or a file of all rows.
#[derive(Debug, Clone, Copy)]
pub enum Requested<C> {
    /// A page of JSON.
    Page(PageRequest<C>),
    /// A file of all rows, in this dialect.
    File(Dialect),
}

/// Returns the form that a request asks for. If the form is a page, `page` reads the page's parameters. Problems are added to `issues`.
pub fn requested<C>(
    headers: &HeaderMap,
    query: &Query,
    issues: &Issues,
    page: impl FnOnce() -> Option<PageRequest<C>>,
) -> Option<Requested<C>> {
    let dialect = if query.get(DIALECT).is_some() {
        filters::one_of(query, DIALECT, &[Dialect::ExcelBr], |_| "excel-br", issues).or(Some(Dialect::ExcelBr))
    } else {
        (accept::preferred(headers) == Format::Csv).then_some(Dialect::Standard)
    };
    let Some(dialect) = dialect else { return page().map(Requested::Page) };
    // A file has all rows, so the parameters of a page are problems.
    for name in [LIMIT, STARTING_AFTER].into_iter().filter(|name| query.get(name).is_some()) {
        issues.add(name, "cannot be given for a CSV file, which has all rows");
    }
    Some(Requested::File(dialect))
}

/// Returns the parameters of a list that is available as a file too: `filters`, the period, the page and the dialect.
#[must_use]
pub fn parameters(filters: Vec<Parameter>) -> Vec<Parameter> {
    let dialect = "Returns a file of all rows in this dialect, for every value of `Accept`.";
    let paging = parameters::created().into_iter().chain(parameters::paging());
    filters.into_iter().chain(paging).chain([parameters::one_of(DIALECT, dialect, ["excel-br"])]).collect()
}

/// Returns a file of all rows. `read` reads the rows after a cursor, and the first rows without a cursor.
///
/// # Errors
/// `rate_limit_exceeded` while another file of the account is read; the error of the first `read`. If a later `read` fails, the connection
/// is cut, so that the caller notices that the file is incomplete.
pub async fn file<P, R, C, F>(call: &Authorized<P>, file: File, read: F) -> Result<HttpResponse, ApiError>
where
    R: Row + 'static,
    C: 'static,
    F: AsyncFn(Option<C>) -> Result<Rows<R, C>, ApiError> + 'static,
{
    let File { account, dialect, .. } = file;
    let exports = call.state.exports.clone();
    let place = exports.enter(account)?;
    let Rows { rows, next } = exports.page(read(None)).await?;
    if call.context.is_head {
        return Ok(file.named(reply::bytes(StatusCode::OK, CSV, Bytes::new())));
    }
    let beginning = lines(&rows, dialect, true);
    drop(rows);
    let request = call.context.id;
    let rest = try_unfold((read, next, exports, place), move |(read, next, exports, place)| async move {
        let Some(cursor) = next else { return Ok(None) };
        let Rows { rows, next } = exports.page(read(Some(cursor))).await.map_err(|error| {
            tracing::error!(%request, code = error.code.name(), cause = error.cause, "rows of a CSV file could not be read; the connection is cut, and the caller receives an incomplete file");
            CutOff
        })?;
        Ok(Some((Bytes::from(lines(&rows, dialect, false)), (read, next, exports, place))))
    });
    Ok(file.named(reply::streamed(CSV, once(async { Ok::<_, CutOff>(Bytes::from(beginning)) }).chain(rest))))
}

/// The failure to read further rows after the response has begun.
#[derive(Debug)]
struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the rows could not be read to their end")
    }
}

impl Error for CutOff {}

//! Lists as CSV: all rows of a filter, read page by page as the caller takes them, so that memory does not grow with their number.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_DISPOSITION, HeaderMap, HeaderValue};
use actix_web::web::Bytes;
use cais_domain::ids::AccountId;
use cais_strict_json::Issues;
use futures_util::stream::{StreamExt as _, once, try_unfold};
use tokio::sync::Semaphore;

use super::accept::{self, Format};
use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::filters;
use super::paging::{LIMIT, STARTING_AFTER};
use super::query::Query;
use super::reply::Reply;
use crate::representation::csv::{Dialect, Row, header, write_row};

/// Rows that are read at a time, the most that the readers give: a page is about 40 KiB.
pub const ROWS: u32 = 200;
/// Pages of files that one process reads at the same time: the connections for reading are few, and other requests need them.
/// A file whose caller takes nothing reads nothing.
const PAGES_AT_ONCE: usize = 2;
/// Seconds after which an account whose file is being written may try again.
const RETRY_AFTER_S: u32 = 5;
/// Room for a line.
const LINE_BYTES: usize = 256;
const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8; header=present");

/// A file that an account asked for.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Whose rows it has.
    pub account: AccountId,
    /// How it is written.
    pub dialect: Dialect,
    /// The header that names it for browsers.
    pub disposition: &'static str,
}

impl File {
    /// The reply with the file's name, where the dialect is one for people.
    fn named(self, reply: Reply) -> Reply {
        let extra = match self.dialect {
            Dialect::Standard => Vec::new(),
            Dialect::ExcelBr => vec![(CONTENT_DISPOSITION, HeaderValue::from_static(self.disposition))],
        };
        Reply { extra, ..reply }
    }
}

/// Some rows, and after which of them the next ones begin; `None` when these are the last.
pub struct Rows<R, C> {
    /// The rows, newest first.
    pub rows: Vec<R>,
    /// The cursor of the last row.
    pub next: Option<C>,
}

/// The files that are being written, one per account; one per process. Cloning shares them.
#[derive(Debug, Clone)]
pub struct Exports {
    accounts: Arc<Mutex<HashSet<AccountId>>>,
    pages: Arc<Semaphore>,
}

impl Default for Exports {
    fn default() -> Self {
        Self { accounts: Arc::default(), pages: Arc::new(Semaphore::new(PAGES_AT_ONCE)) }
    }
}

impl Exports {
    /// The place of the account, taken until it is dropped.
    fn enter(&self, account: AccountId) -> Result<ExportPlace, ApiError> {
        if self.accounts.lock().unwrap_or_else(PoisonError::into_inner).insert(account) {
            return Ok(ExportPlace { exports: self.clone(), account });
        }
        let error = ApiError::new(ErrorCode::RateLimitExceeded).retry_after(RETRY_AFTER_S);
        Err(error.saying("Another file of this account is being written: read it to its end first."))
    }
}

/// The file of an account.
#[derive(Debug)]
struct ExportPlace {
    exports: Exports,
    account: AccountId,
}

impl ExportPlace {
    /// A page that `read` gives, in its turn.
    async fn page<T>(&self, read: impl Future<Output = T>) -> T {
        // The semaphore is never closed; without a permit the page is read all the same.
        let _turn = self.exports.pages.acquire().await.ok();
        read.await
    }
}

impl Drop for ExportPlace {
    fn drop(&mut self) {
        self.exports.accounts.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.account);
    }
}

/// The parameter that asks for a file in a dialect of its own, whatever the caller accepts: a link in a browser can carry it.
pub const DIALECT: &str = "csv";

/// The dialect of the file that the caller wants; `None` for a caller who wants a page of JSON. An unknown dialect goes to `issues`.
#[must_use]
pub fn wanted(query: &Query, headers: &HeaderMap, issues: &Issues) -> Option<Dialect> {
    if query.get(DIALECT).is_some() {
        return filters::word(query, DIALECT, &[Dialect::ExcelBr], |_| "excel-br", issues).or(Some(Dialect::ExcelBr));
    }
    match accept::preferred(headers) {
        Format::Json => None,
        Format::Csv => Some(Dialect::Standard),
    }
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
/// `rate_limit_exceeded` while another file of the account is being written; what `read` says of the first rows. When later ones fail, the
/// connection is cut, so that nobody takes what came for all.
pub async fn answer<R, C, F>(call: &Call<'_>, file: File, read: F) -> Result<Reply, ApiError>
where
    R: Row + 'static,
    C: 'static,
    F: AsyncFn(Option<C>) -> Result<Rows<R, C>, ApiError> + 'static,
{
    let File { account, dialect, .. } = file;
    let place = call.state.exports.enter(account)?;
    let Rows { rows, next } = place.page(read(None)).await?;
    if call.request.method() == Method::HEAD {
        return Ok(file.named(Reply::typed(CSV, Bytes::new())));
    }
    let mut beginning = header(R::NAMES, dialect);
    write(&mut beginning, &rows, dialect);
    drop(rows);
    let request = call.id;
    let rest = try_unfold((read, next, place), move |(read, next, place)| async move {
        let Some(cursor) = next else { return Ok(None) };
        let Rows { rows, next } = place.page(read(Some(cursor))).await.map_err(|error| {
            tracing::error!(%request, code = error.code.name(), cause = error.cause, "a file was cut off");
            CutOff
        })?;
        let mut text = Vec::new();
        write(&mut text, &rows, dialect);
        Ok(Some((Bytes::from(text), (read, next, place))))
    });
    Ok(file.named(Reply::streamed(CSV, once(async { Ok::<_, CutOff>(Bytes::from(beginning)) }).chain(rest))))
}

fn write<R: Row>(out: &mut Vec<u8>, rows: &[R], dialect: Dialect) {
    out.reserve(rows.len().saturating_mul(LINE_BYTES));
    for row in rows {
        write_row(out, row, dialect);
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

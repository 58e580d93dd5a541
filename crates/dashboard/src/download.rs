//! CSV files with all rows of a list. The next page of rows is read only when the connection accepts more data, so the
//! needed memory does not depend on the number of rows.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use cais_domain::ids::AccountId;
use cais_use_cases::export_places::ExportPlaces;
use futures_util::stream::{StreamExt as _, once, try_unfold};
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// The rows per page, equal to the largest page that the use cases return.
pub(crate) const ROWS: u32 = 200;
/// The largest number of pages of rows that one process reads for CSV files at the same time. Database connections are
/// few, and the dashboard's HTML pages need them too.
const PAGES_AT_ONCE: usize = 2;

/// The unfinished CSV files, at most one per account, and the permits to read their pages of rows. Clones share one
/// state, and each process has one.
#[derive(Debug, Clone)]
pub struct Downloads {
    places: ExportPlaces,
    pages: Arc<Semaphore>,
}

/// A part of a file, and the cursor after which the next part begins; `None` if this part is the last.
pub(crate) type Part<C> = (Vec<u8>, Option<C>);

impl Downloads {
    /// Creates the downloads of a process. The API uses the same `places`, so an account has at most one unfinished
    /// file in both.
    #[must_use]
    pub fn new(places: ExportPlaces) -> Self {
        Self { places, pages: Arc::new(Semaphore::new(PAGES_AT_ONCE)) }
    }

    /// Returns a CSV file of the account with the file name `name`. `read` is called with `None` for the first part.
    /// For each further part, `read` is called with the cursor that the previous part returned.
    ///
    /// # Errors
    /// [`Failure::FileUnfinished`] if another file of the account is unfinished, or the failure of the first read. If a
    /// later read fails, the connection is cut, so that the browser notices that the file is incomplete.
    pub(crate) async fn csv<C, F>(&self, account: AccountId, name: &str, read: F) -> Result<HttpResponse, Failure>
    where
        C: 'static,
        F: AsyncFn(Option<C>) -> Result<Part<C>, Failure> + 'static,
    {
        let place = self.places.enter(account).ok_or(Failure::FileUnfinished)?;
        let (beginning, next) = self.page(read(None)).await?;
        let rest = try_unfold((self.clone(), read, next, place), |(downloads, read, next, place)| async move {
            let Some(cursor) = next else { return Ok(None) };
            let (text, next) = downloads.page(read(Some(cursor))).await.inspect_err(|failure| {
                tracing::error!(%failure, "rows of a CSV file could not be read; the connection is cut, and the caller receives an incomplete file");
            })?;
            Ok::<_, Failure>(Some((Bytes::from(text), (downloads, read, next, place))))
        });
        let first = once(async { Ok(Bytes::from(beginning)) });
        Ok(HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, "text/csv; charset=utf-8; header=present"))
            .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
            .streaming(first.chain(rest)))
    }

    /// Waits for a permit, and reads a page of rows.
    async fn page<T>(&self, read: impl Future<Output = T>) -> T {
        // The semaphore is never closed. If it were, the page would be read without a permit.
        let _turn = self.pages.acquire().await.ok();
        read.await
    }
}

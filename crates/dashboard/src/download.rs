//! Files with all rows of a list. The next page of rows is read only after the browser has received the previous one,
//! so the needed memory does not depend on the number of rows.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use cais_domain::ids::AccountId;
use cais_use_cases::export_places::ExportPlaces;
use futures_util::stream::{StreamExt as _, once, try_unfold};
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// Rows per read: the limit of the readers.
pub(crate) const ROWS: u32 = 200;
/// Concurrent page reads of one process for files. Read connections are few, and other pages need them.
const PAGES_AT_ONCE: usize = 2;

/// The unfinished files, one per account, and the page reads for them. Each process has one; clones share it.
#[derive(Debug, Clone)]
pub struct Downloads {
    places: ExportPlaces,
    pages: Arc<Semaphore>,
}

/// A part of a file, and the cursor of its last row; `None` after the last row.
pub(crate) type Part<C> = (Vec<u8>, Option<C>);

impl Downloads {
    /// Creates the page reads. The API shares the places.
    #[must_use]
    pub fn new(places: ExportPlaces) -> Self {
        Self { places, pages: Arc::new(Semaphore::new(PAGES_AT_ONCE)) }
    }

    /// Returns a CSV file of the account with that name. `read` is called with the cursor of the last row so far.
    ///
    /// # Errors
    /// [`Failure::FileUnfinished`]; the failure of the first read. If a later read fails, the connection is cut, so that a part is not mistaken for the
    /// whole.
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
                tracing::error!(%failure, "file cut off; its reader receives an incomplete download");
            })?;
            Ok::<_, Failure>(Some((Bytes::from(text), (downloads, read, next, place))))
        });
        let first = once(async { Ok(Bytes::from(beginning)) });
        Ok(HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, "text/csv; charset=utf-8; header=present"))
            .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
            .streaming(first.chain(rest)))
    }

    /// Reads a page with a permit.
    async fn page<T>(&self, read: impl Future<Output = T>) -> T {
        // The semaphore is never closed; without a permit the page is read all the same.
        let _turn = self.pages.acquire().await.ok();
        read.await
    }
}

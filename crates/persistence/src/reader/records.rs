//! Reads of records, by key or by queries in diesel's DSL, on a connection of the pool.

use async_trait::async_trait;
use cais_domain::pause::MAX_PAUSE;
use cais_ports::{AnyRecord, ChargeQueries as _, Due, Page, PageRequest, QueryError, RecordKey, RecordQueries};
use jiff::Timestamp;

use super::page::{cut, due, work};
use crate::Persistence;
use crate::error::Fault;
use crate::rows;
use crate::sql::select::Select;
use crate::sql::table::Row;

#[async_trait]
impl RecordQueries for Persistence {
    async fn find_record(&self, key: RecordKey) -> Result<Option<AnyRecord>, QueryError> {
        // A payment has its own query, because its refunded amount is not in its row.
        if let RecordKey::Payment { account, end_to_end_id } = &key {
            return Ok(self.find_payment(*account, end_to_end_id).await?.map(AnyRecord::from));
        }
        self.pool().read(move |session| rows::find(session, &key)).await
    }
}

impl Persistence {
    /// Returns the record that a query finds, if any.
    pub(super) async fn find<R: Send + 'static, T: Send + 'static>(
        &self,
        query: impl Select<R> + Send + 'static,
        read: fn(R) -> Result<T, Fault>,
    ) -> Result<Option<T>, QueryError> {
        Ok(self.list(query, read).await?.pop())
    }

    /// Returns the records of a query. A row that cannot be read fails the query.
    pub(super) async fn list<R: Send + 'static, T: Send + 'static>(
        &self,
        query: impl Select<R> + Send + 'static,
        read: fn(R) -> Result<T, Fault>,
    ) -> Result<Vec<T>, QueryError> {
        self.pool().read(move |session| session.rows(query)?.into_iter().map(read).collect()).await
    }

    /// Returns a page of records. The limit of `query` must be one record more than the page has; see [`super::page::one_more`].
    pub(super) async fn page<R: Send + 'static, T: Send + 'static, I: Copy>(
        &self,
        query: impl Select<R> + Send + 'static,
        read: fn(R) -> Result<T, Fault>,
        page: PageRequest<I>,
    ) -> Result<Page<T>, QueryError> {
        Ok(cut(self.list(query, read).await?, page))
    }

    /// Returns the records of a work list; see [`work`].
    pub(super) async fn work<R: Row<'static> + Send + 'static, T: Send + 'static>(
        &self,
        query: impl Select<R> + Send + 'static,
        read: fn(R) -> Result<T, Fault>,
        limit: u32,
    ) -> Result<Vec<T>, QueryError> {
        self.pool().read(move |session| Ok(work(session.rows(query)?, limit, R::name, read))).await
    }

    /// Returns the records of a work list that are due at `now`; see [`due`] and [`work`]. `due` calls `query` for one or two ranges of due
    /// times. The parameters of `query` are the first and last due time of the range, in microseconds, and a limit.
    pub(super) async fn due<R: Row<'static> + Send + 'static, T: Send + 'static, Q: Select<R>>(
        &self,
        query: impl Fn(i64, i64, i64) -> Q + Send + 'static,
        read: fn(R) -> Result<T, Fault>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<T>, QueryError> {
        self.pool()
            .read(move |session| {
                let half = |from, until, most| Ok(session.rows(query(from, until, most))?);
                Ok(work(due(Due::new(now, MAX_PAUSE), limit, half)?, limit, R::name, read))
            })
            .await
    }
}

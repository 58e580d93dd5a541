//! Compares one list with the local records that the list should contain. The comparison goes window by window and page
//! by page.

use std::collections::HashMap;
use std::hash::Hash;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerError, ListRequest, UpstreamPage};
use jiff::Timestamp;

use super::Run;
use super::report::Findings;
use super::windows::{MAX_LOOK_UPS, MOST_RECORDS, Pages, Windows};
use crate::store_error::StoreError;

/// The local records of one window that were not found in the list yet.
pub(super) type Unlisted<L> = HashMap<<L as ComparedList>::Id, <L as ComparedList>::Record>;
/// A window of time. The start is inclusive and the end is exclusive.
pub(super) type Window = (Timestamp, Timestamp);

/// A list of an acquirer or of the crypto processor, and the local records that the list should contain.
#[async_trait]
pub(super) trait ComparedList: Sync {
    /// A row of the list.
    type Row: Send;
    /// A local record.
    type Record: Clone + Send + Sync;
    /// The identifier of a local record.
    type Id: Eq + Hash + Send;

    /// The list's name in an error message.
    const LIST: &'static str;
    /// The name of the local records in the report.
    const RECORDS: &'static str;
    /// The list's name in the progress.
    const PROGRESS: &'static str;

    /// Returns the run.
    fn run(&self) -> &Run<'_>;

    /// Returns the name of the acquirer or processor.
    fn name(&self) -> &AcquirerName;

    /// Returns a page of the list.
    async fn list(&self, request: ListRequest) -> Result<UpstreamPage<Self::Row>, AcquirerError>;

    /// Returns the next local records of the window after `last`, in their order. An empty result means that there are
    /// no more.
    async fn records(&self, window: Window, last: Option<&Self::Record>) -> Result<Vec<Self::Record>, StoreError>;

    /// Returns the identifier of a record.
    fn id(record: &Self::Record) -> Self::Id;

    /// Returns the identifier of the record in an unreadable row, if the row contains one.
    fn id_of_unreadable(row: &str) -> Option<Self::Id>;

    /// Compares the rows of a page, and removes their records from `unlisted`. Returns the number of compared rows.
    async fn compare(
        &self,
        rows: Vec<Self::Row>,
        window: Window,
        unlisted: &mut Unlisted<Self>,
        findings: &mut Findings,
    ) -> Result<u64, StoreError>
    where
        Self: Sized;

    /// Returns whether the list should contain the record by now.
    fn is_expected(&self, record: &Self::Record) -> bool;

    /// Looks up, one by one, the records that the list should contain but does not.
    async fn look_up(&self, records: Vec<Self::Record>, findings: &mut Findings) -> Result<(), StoreError>;
}

/// Compares a list with the local records of the run's time span ([`Run`]: `from` to `until`). Stops if the list cannot
/// be read.
pub(super) async fn compare<L: ComparedList>(list: &L, findings: &mut Findings) -> Result<(), StoreError> {
    let (run, name) = (list.run(), list.name());
    let mut windows = Windows::new(run.from, run.until);
    let (mut pages, mut done) = (Pages::new(), 0_u64);
    while let Some(window) = windows.current() {
        // If a window has too many local records, or reading them takes too long, the window is made shorter.
        let (mut unlisted, whole) = match records(list, window).await {
            Err(StoreError::Unavailable(_)) if windows.narrow() => continue,
            known => known?,
        };
        if !whole && windows.narrow() {
            continue;
        }
        let mut page = Some(0);
        while let Some(number) = page {
            let listed = match list.list(ListRequest { from: window.0, to: window.1, page: number }).await {
                Ok(listed) => listed,
                Err(error) => {
                    findings.cannot_read(name, format!("{}: {error}", L::LIST));
                    return Ok(());
                }
            };
            // The list contains the record of an unreadable row, so the record must not be reported as absent.
            for id in listed.unreadable.iter().filter_map(|row| L::id_of_unreadable(&row.name)) {
                unlisted.remove(&id);
            }
            findings.unreadable(name, listed.unreadable);
            let compared = list.compare(listed.rows, window, &mut unlisted, findings).await?;
            done = done.saturating_add(compared);
            run.done(name, L::PROGRESS, done);
            page = match pages.turn(number, listed.next) {
                Ok(next) => next,
                Err(reason) => {
                    findings.cannot_read(name, format!("{}: {reason}", L::LIST));
                    return Ok(());
                }
            };
        }
        if !whole {
            let reason = format!("more than {MOST_RECORDS} {} at {}: not all are compared", L::RECORDS, window.0);
            findings.cannot_read(name, reason);
        }
        let mut missing: Vec<_> = unlisted.into_values().filter(|record| list.is_expected(record)).collect();
        if missing.len() > MAX_LOOK_UPS {
            let reason = format!("{} {} are not in its list: not all are looked up", missing.len(), L::RECORDS);
            findings.cannot_read(name, reason);
            missing.truncate(MAX_LOOK_UPS);
        }
        list.look_up(missing, findings).await?;
        windows.advance();
    }
    Ok(())
}

/// Returns the local records of the window. The second value is `true` if no record is left out.
async fn records<L: ComparedList>(list: &L, window: Window) -> Result<(Unlisted<L>, bool), StoreError> {
    let (mut found, mut last) = (Unlisted::<L>::new(), None);
    loop {
        let some = list.records(window, last.as_ref()).await?;
        last = some.last().cloned();
        if last.is_none() {
            return Ok((found, true));
        }
        found.extend(some.into_iter().map(|record| (L::id(&record), record)));
        if found.len() > MOST_RECORDS {
            return Ok((found, false));
        }
    }
}

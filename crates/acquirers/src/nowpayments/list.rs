//! Pages of the list of deposits, and the look-up of a deposit by our identifier.

use cais_domain::ids::CryptoDepositId;
use cais_ports::{AcquirerError, ListRequest, UnreadableRow, UpstreamDeposit, UpstreamPage};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::{Access, Api};
use super::deposit::{self, Payment};
use super::{refusal, wire};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part};

/// The requested number of rows on a page. The processor allows 500.
const PER_PAGE: &str = "100";
/// The largest number of pages that a look-up reads: 2,000 rows with 100 rows per page. A longer list counts as unreadable.
pub(super) const MAX_PAGES: u32 = 20;
/// The time added at both ends of a period, because the time zone of the processor's days is unknown and its clock may differ.
pub(super) const MARGIN: SignedDuration = SignedDuration::from_hours(24);

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    data: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "pagesCount")]
    pages: Option<&'a RawValue>,
}

/// Requests a page of `GET /v1/payment/`, newest row first. The page also reports the unreadable rows.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamDeposit>, FindError> {
    let (from, to) = (day(request.from, -MARGIN), day(request.to, MARGIN));
    let number = request.page.to_string();
    let query = [
        ("limit", PER_PAGE),
        ("page", &number),
        ("sortBy", "created_at"),
        ("orderBy", "desc"),
        ("dateFrom", &from),
        ("dateTo", &to),
    ];
    let reply = api.get("/v1/payment/", &query, Access::Login, deadline).await?;
    let list: List<'_> = reply.read(refusal::of_reply)?;
    let values = list.data.ok_or_else(|| Defect::mismatch("data", "is missing"))?;
    let pages = wire::short_text(list.pages).and_then(|text| text.parse::<u32>().ok());
    let following = request.page.saturating_add(1);
    // If the answer has no count of pages, only an empty page is the last, because the processor may return fewer rows than requested.
    let is_more = !values.is_empty() && pages.is_none_or(|pages| following < pages);
    let (mut rows, mut unreadable) = (Vec::with_capacity(values.len()), Vec::new());
    for (index, value) in values.iter().enumerate() {
        let payment: Option<Payment<'_>> = part(Some(value));
        let row = payment.ok_or_else(|| Defect::mismatch("data", "has a row that is no payment"));
        match row.and_then(|payment| deposit::read(&payment)) {
            Ok(row) => rows.push(row),
            Err(defect) => {
                unreadable.push(UnreadableRow { name: name(value, index), reason: defect.reason() });
            }
        }
    }
    Ok(UpstreamPage { rows, unreadable, next: is_more.then_some(following), pages })
}

/// Finds the first deposit that was created with our identifier. Searches the days around the creation of the identifier.
pub(super) async fn find(
    api: &Api,
    id: CryptoDepositId,
    deadline: Deadline,
) -> Result<Option<UpstreamDeposit>, AcquirerError> {
    let created = created_at(id.timestamp_ms());
    let (mut found, mut next, mut read) = (None, Some(0), 0_u32);
    while let Some(number) = next {
        if read == MAX_PAGES {
            return Err(AcquirerError::OutcomeUnknown("the list has too many pages".to_owned()));
        }
        let request = ListRequest { from: created, to: created, page: number };
        let page = page(api, request, deadline).await.map_err(FindError::of_a_read)?;
        if let Some(row) = page.unreadable.first() {
            return Err(AcquirerError::OutcomeUnknown(format!("a row of the list is unreadable: {}", row.reason)));
        }
        // The list is sorted from the newest row, so the last match is the first creation.
        found = page.rows.into_iter().rfind(|row| row.order == Some(id) && row.parent.is_none()).or(found);
        (next, read) = (page.next, read.saturating_add(1));
    }
    Ok(found)
}

/// Returns the processor's identifier of a row, or the row's position.
fn name(row: &RawValue, index: usize) -> String {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        payment_id: Option<&'a RawValue>,
    }
    let named: Option<Named<'_>> = part(Some(row));
    named.and_then(|named| wire::short_text(named.payment_id)).unwrap_or_else(|| format!("data[{index}]"))
}

/// Converts the timestamp in one of our identifiers (`UUIDv7`) to an instant.
pub(super) fn created_at(timestamp_ms: u64) -> Timestamp {
    i64::try_from(timestamp_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default()
}

/// Returns the day (UTC) of an instant that is moved by `margin`.
pub(super) fn day(at: Timestamp, margin: SignedDuration) -> String {
    at.checked_add(margin).unwrap_or(at).to_zoned(TimeZone::UTC).date().to_string()
}

/// Returns the first day on which the processor may have created a record of ours.
pub(super) fn first_day(created: Timestamp) -> String {
    day(created, -MARGIN)
}

//! Reads endpoints and events. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EndpointId, EventId};
use cais_domain::merchant::webhook::{Endpoint, WebhookUrl};
use cais_ports::{
    EndpointActivity, EndpointQueries, EndpointQueue, EventFilter, EventPage, EventQueries, Page, PageRequest,
    QueryError, StoredEvent,
};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, cut, one_more};
use crate::Persistence;
use crate::error::Fault;
use crate::rows::endpoint::{EndpointRow, webhook_endpoints};
use crate::rows::event::{self, EventRow, endpoint_failures, events};
use crate::rows::{Record as _, instant};
use crate::sql::select::{Select, is_none_of};
use crate::sql::table::names;
use crate::sql::{Query, Session};

fn endpoint_at(account: AccountId, url: String) -> impl Select<EndpointRow<'static>> {
    webhook_endpoints::table
        .filter(webhook_endpoints::account_id.eq(account.to_string()))
        .filter(is_none_of(webhook_endpoints::state, ["deleted"]))
        .filter(webhook_endpoints::url.eq(url))
}

fn endpoints_of(account: AccountId, page: PageRequest<EndpointId>) -> impl Select<EndpointRow<'static>> {
    webhook_endpoints::table
        .filter(webhook_endpoints::account_id.eq(account.to_string()))
        .filter(is_none_of(webhook_endpoints::state, ["deleted"]))
        .filter(webhook_endpoints::id.lt(after(page)))
        .order(webhook_endpoints::id.desc())
        .limit(one_more(page))
}

/// Counts the waiting deliveries of a queue, and finds the latest success among the newest deliveries of its endpoint.
const ACTIVITY: &str = "SELECT \
     (SELECT count(*) FROM (SELECT 1 FROM pending_deliveries WHERE endpoint_id = ? AND epoch = ? LIMIT ?) AS w), \
     coalesce((SELECT max(a.at) FROM (SELECT account_id, id FROM deliveries WHERE account_id = ? AND endpoint_id = ? \
     ORDER BY id DESC LIMIT ?) AS d JOIN delivery_attempts AS a ON a.account_id = d.account_id AND a.delivery_id = d.id \
     WHERE a.error IS NULL), 0)";

#[async_trait]
impl EndpointQueries for Persistence {
    async fn find_endpoint_by_url(&self, account: AccountId, url: &WebhookUrl) -> Result<Option<Endpoint>, QueryError> {
        self.find(endpoint_at(account, url.as_str().to_owned()), Endpoint::read).await
    }

    async fn list_endpoints(
        &self,
        account: AccountId,
        page: PageRequest<EndpointId>,
    ) -> Result<Page<Endpoint>, QueryError> {
        self.page(endpoints_of(account, page), Endpoint::read, page).await
    }

    async fn failing_since(&self, queue: EndpointQueue) -> Result<Option<Timestamp>, QueryError> {
        let row = (queue.account.to_string(), queue.endpoint.to_string(), queue.epoch);
        let query = endpoint_failures::table.find(row).select(endpoint_failures::failing_since);
        self.pool()
            .read(move |session| {
                session.rows(query)?.pop().map(|since| instant("endpoint_failures", since)).transpose()
            })
            .await
    }

    async fn endpoint_activity(&self, queue: EndpointQueue) -> Result<EndpointActivity, QueryError> {
        self.pool()
            .read(move |session| {
                let EndpointQueue { account, endpoint, epoch } = queue;
                let query = Query::new(ACTIVITY).bind(endpoint).bind(epoch).bind(EndpointActivity::MOST_WAITING);
                let query = query.bind(account).bind(endpoint).bind(EndpointActivity::RECENT);
                let (waiting, last): (i64, i64) = session.load(&query)?.pop().unwrap_or_default();
                let last_success = if last == 0 { None } else { Some(instant("delivery_attempts", last)?) };
                Ok(EndpointActivity { waiting: u64::try_from(waiting).unwrap_or_default(), last_success })
            })
            .await
    }
}

#[async_trait]
impl EventQueries for Persistence {
    async fn find_event(&self, account: AccountId, id: EventId) -> Result<Option<StoredEvent>, QueryError> {
        let query = of_id(account, id);
        self.find(query, event::read).await
    }

    async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        page: EventPage,
    ) -> Result<Page<StoredEvent>, QueryError> {
        let size = PageRequest { limit: page.limit, starting_after: page.starting_after };
        let rows = self.pool().read(move |session| {
            let Some(bound) = bound(session, account, filter, page.starting_after)? else { return Ok(Vec::new()) };
            let query = Query::new(page_text(filter)).bind(account).bind(bound);
            let query = filter.kind.map(EventType::as_str).into_iter().fold(query, Query::bind);
            session.load(&query.bind(one_more(size)))?.into_iter().map(event::read).collect()
        });
        Ok(cut(rows.await?, size))
    }

    async fn list_events_of(
        &self,
        account: AccountId,
        resource: &str,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, QueryError> {
        let size = PageRequest::<EventId> { limit, starting_after: None };
        Ok(self.page(of_resource(account, resource.to_owned(), size), event::read, size).await?.rows)
    }
}

fn of_resource(account: AccountId, resource: String, page: PageRequest<EventId>) -> impl Select<EventRow<'static>> {
    events::table
        .filter(events::account_id.eq(account.to_string()))
        .filter(events::resource_id.eq(resource))
        .order(events::sequence)
        .limit(one_more(page))
}

#[diesel::dsl::auto_type]
fn of_id(account: AccountId, id: EventId) -> _ {
    let (account, id): (String, String) = (account.to_string(), id.to_string());
    events::table.filter(events::account_id.eq(account)).filter(events::id.eq(id))
}

/// Returns the sequence number beyond which the page begins, in the order of the filter; `None` if the page continues after an unknown
/// event.
fn bound(
    session: &mut dyn Session,
    account: AccountId,
    filter: EventFilter,
    starting_after: Option<EventId>,
) -> Result<Option<i64>, Fault> {
    let Some(id) = starting_after else { return Ok(Some(filter.after_sequence.unwrap_or(i64::MAX))) };
    let place = session.rows::<i64>(of_id(account, id).select(events::sequence))?.pop();
    Ok(place.map(|place| place.max(filter.after_sequence.unwrap_or(place))))
}

/// Returns the statement of a page, one of four.
fn page_text(filter: EventFilter) -> String {
    let (beyond, order) = if filter.after_sequence.is_some() { (">", "") } else { ("<", " DESC") };
    let kind = if filter.kind.is_some() { " AND type = ?" } else { "" };
    let columns = names::<EventRow<'_>>("e");
    format!(
        "SELECT {columns} FROM events AS e WHERE account_id = ? AND sequence {beyond} ?{kind} ORDER BY sequence{order} LIMIT ?"
    )
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_testkit::builders::fresh;

    let page = |kind, after_sequence| page_text(EventFilter { kind, after_sequence });
    let paid = Some(EventType::ChargePaid);
    vec![
        super::walks::list(&endpoints_of(fresh(), super::page::first()), "'acc_a', '~', 51"),
        super::walks::list(&of_resource(fresh(), String::new(), super::page::first()), "'acc_a', 'chg_00007', 51"),
        (page(None, None), "'acc_a', 9000, 51"),
        (page(None, Some(7)), "'acc_a', 5000, 51"),
        (page(paid, None), "'acc_a', 9000, 'rare', 51"),
        (page(paid, Some(7)), "'acc_a', 0, 'rare', 51"),
    ]
}

#[cfg(test)]
mod tests {
    use cais_testkit::builders::fresh;

    use super::super::page::first;
    use super::super::plans::Planner;
    use super::*;
    use crate::sql::select::texts;

    #[test]
    fn events_are_read_along_an_index_that_ends_with_the_page() {
        let mut planner = Planner::new();
        for after_sequence in [None, Some(7)] {
            for kind in [None, Some(EventType::ChargePaid)] {
                let steps = planner.plan(&page_text(EventFilter { kind, after_sequence }));
                let along = if kind.is_some() {
                    "events_of_type (account_id=? AND type=? AND sequence"
                } else {
                    "(account_id=? AND sequence"
                };
                assert!(matches!(steps.as_slice(), [step] if step.contains(along)), "{steps:?}");
            }
        }
    }

    #[test]
    fn activity_is_read_along_keys() {
        let steps = Planner::new().plan(ACTIVITY);
        for along in [
            "pending_deliveries_due (endpoint_id=? AND epoch=?)",
            "(account_id=? AND endpoint_id=?)",
            "(account_id=? AND delivery_id=?)",
        ] {
            assert!(steps.iter().any(|step| step.contains(along)), "{along}: {steps:?}");
        }
        let is_bounded = |step: &String| {
            !step.starts_with("SCAN") || ["SCAN d", "SCAN w", "SCAN CONSTANT ROW"].contains(&step.as_str())
        };
        assert!(steps.iter().all(is_bounded), "{steps:?}");
    }

    #[test]
    fn events_of_a_resource_are_read_along_its_index() {
        let steps = Planner::new().plan(&texts(&of_resource(fresh(), String::new(), first())).1);
        let along = "events_of_resource (account_id=? AND resource_id=?)";
        assert!(matches!(steps.as_slice(), [step] if step.contains(along)), "{steps:?}");
    }

    #[test]
    fn endpoint_list_is_read_along_account_and_id() {
        let steps = Planner::new().plan(&texts(&endpoints_of(fresh(), first())).1);
        assert!(matches!(steps.as_slice(), [step] if step.contains("(account_id=? AND id<?)")), "{steps:?}");
    }
}

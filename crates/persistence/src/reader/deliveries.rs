//! Reads deliveries with their attempts. Each list is one statement, with the same text on both engines.

use async_trait::async_trait;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_ports::{Delivery, DeliveryQueries, Page, PageRequest, QueryError};

use super::page::{after, cut, one_more};
use crate::Persistence;
use crate::rows::delivery;
use crate::sql::Query;

/// The largest number of listed deliveries of one event. An account has at most 20 endpoints at a time, and may have deleted others.
const MAX_OF_EVENT: u32 = 200;

/// A statement that reads the deliveries of `page`, each with its last 50 attempts.
macro_rules! text {
    ($page:literal $order:literal) => {
        concat!(
            "SELECT d.id, d.endpoint_id, d.event_id, d.event_type, d.status, d.created_at, p.due_at, \
             CAST(CASE WHEN w.id IS NULL THEN 0 WHEN w.state = 'inactive' THEN 1 ELSE 2 END AS BIGINT), a.fence, a.at, a.status_code, a.duration_ms, a.error, a.response_body \
             FROM (SELECT d.*, COALESCE((SELECT b.fence FROM delivery_attempts AS b WHERE b.account_id = d.account_id AND b.delivery_id = d.id \
             ORDER BY b.fence DESC LIMIT 1 OFFSET 50), 0) AS hidden FROM deliveries AS d WHERE ",
            $page,
            ") AS d LEFT JOIN pending_deliveries AS p ON p.account_id = d.account_id AND p.endpoint_id = d.endpoint_id AND p.id = d.id \
             LEFT JOIN webhook_endpoints AS w ON w.account_id = p.account_id AND w.id = p.endpoint_id AND w.epoch = p.epoch \
             AND w.state IN ('active', 'inactive') \
             LEFT JOIN delivery_attempts AS a ON a.account_id = d.account_id AND a.delivery_id = d.id AND a.fence > d.hidden \
             ORDER BY d.id",
            $order,
            ", a.fence"
        )
    };
}

const FIND: &str = text!("d.account_id = ? AND d.endpoint_id = ? AND d.id = ?" "");
const LIST: &str = text!("d.account_id = ? AND d.endpoint_id = ? AND d.id < ? ORDER BY d.id DESC LIMIT ?" " DESC");
/// The expression on the account matches no index, so only the index that begins with the event is considered.
const OF_EVENT: &str = text!("d.account_id || '' = ? AND d.event_id = ? ORDER BY d.id LIMIT ?" "");

#[async_trait]
impl DeliveryQueries for Persistence {
    async fn find_delivery(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, QueryError> {
        let found = self.pool().read(move |session| {
            let query = Query::new(FIND).bind(account).bind(endpoint).bind(id);
            delivery::read_all(session.load(&query)?)
        });
        Ok(found.await?.pop())
    }

    async fn list_deliveries(
        &self,
        account: AccountId,
        endpoint: EndpointId,
        page: PageRequest<DeliveryId>,
    ) -> Result<Page<Delivery>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = Query::new(LIST).bind(account).bind(endpoint).bind(after(page)).bind(one_more(page));
            delivery::read_all(session.load(&query)?)
        });
        Ok(cut(rows.await?, page))
    }

    async fn list_deliveries_of_event(&self, account: AccountId, event: EventId) -> Result<Vec<Delivery>, QueryError> {
        self.pool()
            .read(move |session| {
                let query = Query::new(OF_EVENT).bind(account).bind(event).bind(MAX_OF_EVENT);
                delivery::read_all(session.load(&query)?)
            })
            .await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    vec![(LIST.to_owned(), "'acc_a', 'whe_00001', '~', 51"), (OF_EVENT.to_owned(), "'acc_a', 'evt_00007', 200")]
}

#[cfg(test)]
mod tests {
    use super::super::plans::Planner;
    use super::*;

    #[test]
    fn lists_are_read_along_their_keys_and_end_with_the_page() {
        let mut planner = Planner::new();
        for text in [FIND, LIST, OF_EVENT] {
            let steps = planner.plan(text);
            assert!(steps.iter().all(|step| !step.starts_with("SCAN") || step == "SCAN d"), "{steps:?}");
            assert!(steps.iter().filter(|step| step.contains("delivery_attempts")).all(|step| step.contains("SEARCH")));
        }
        for (text, along) in [
            (LIST, "(account_id=? AND endpoint_id=? AND id<?)"),
            (FIND, "(account_id=? AND endpoint_id=? AND id=?)"),
            (OF_EVENT, "(event_id=?)"),
        ] {
            let steps = planner.plan(text);
            assert!(steps.iter().any(|step| step.contains("deliveries") && step.contains(along)), "{steps:?}");
        }
    }
}

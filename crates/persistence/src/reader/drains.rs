//! Reads drained acquirers, and counts open orders. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerDrain, DrainQueries, OpenOrders, QueryError};
use diesel::prelude::*;

use crate::Persistence;
use crate::rows::Record as _;
use crate::rows::drain::acquirer_drains;
use crate::sql::Query;

/// Counts the open orders at an acquirer, each kind up to a limit. Each count has the condition of a partial index of open rows.
const OPEN_ORDERS: &str = "SELECT \
    (SELECT count(*) FROM (SELECT 1 FROM charges WHERE status = 'pending' AND acquirer = ? LIMIT ?) AS c), \
    (SELECT count(*) FROM (SELECT 1 FROM payouts WHERE due_at IS NOT NULL AND acquirer = ? LIMIT ?) AS p), \
    (SELECT count(*) FROM (SELECT 1 FROM refunds WHERE due_at IS NOT NULL AND acquirer = ? LIMIT ?) AS r), \
    (SELECT count(*) FROM (\
        SELECT 1 FROM infractions WHERE status IN ('open', 'under_review') AND acquirer = ? LIMIT ?\
    ) AS i)";

#[async_trait]
impl DrainQueries for Persistence {
    async fn list_drains(&self) -> Result<Vec<AcquirerDrain>, QueryError> {
        self.list(acquirer_drains::table.order(acquirer_drains::acquirer), AcquirerDrain::read).await
    }

    async fn count_open_orders(&self, acquirer: &AcquirerName) -> Result<OpenOrders, QueryError> {
        let acquirer = acquirer.to_string();
        let rows = self.pool().read(move |session| {
            let query = Query::new(OPEN_ORDERS);
            let query = (0..4).fold(query, |query, _| query.bind(acquirer.as_str()).bind(OpenOrders::MOST));
            Ok(session.load::<(i64, i64, i64, i64)>(&query)?)
        });
        let (charges, payouts, refunds, infractions) = rows.await?.pop().unwrap_or_default();
        let [charges, payouts, refunds, infractions] =
            [charges, payouts, refunds, infractions].map(|count| u64::try_from(count).unwrap_or_default());
        Ok(OpenOrders { charges, payouts, refunds, infractions })
    }
}

//! Reads drained acquirers, and counts open orders. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{AcquirerDrain, DrainQueries, OpenOrders, QueryError};
use diesel::prelude::*;

use crate::Persistence;
use crate::error::Fault;
use crate::rows::drain::acquirer_drains;
use crate::rows::{Record as _, acquirer};
use crate::sql::{Query, Session};

/// Counts the open orders at an acquirer, each kind up to a limit. Each count has the condition of a partial index of open rows.
const OPEN_ORDERS: &str = "SELECT \
    (SELECT count(*) FROM (SELECT 1 FROM charges WHERE status = 'pending' AND acquirer = ? LIMIT ?) AS c), \
    (SELECT count(*) FROM (SELECT 1 FROM payouts WHERE due_at IS NOT NULL AND acquirer = ? LIMIT ?) AS p), \
    (SELECT count(*) FROM (SELECT 1 FROM refunds WHERE due_at IS NOT NULL AND acquirer = ? LIMIT ?) AS r), \
    (SELECT count(*) FROM (\
        SELECT 1 FROM infractions WHERE status IN ('open', 'under_review') AND acquirer = ? LIMIT ?\
    ) AS i)";

/// Selects each acquirer and processor whose lists the service has read. The table has one row per list.
const ACQUIRERS: &str = "SELECT DISTINCT acquirer FROM list_positions ORDER BY acquirer";

#[async_trait]
impl DrainQueries for Persistence {
    async fn list_drains(&self) -> Result<Vec<AcquirerDrain>, QueryError> {
        self.list(acquirer_drains::table.order(acquirer_drains::acquirer), AcquirerDrain::read).await
    }

    async fn count_open_orders(&self, acquirer: &AcquirerName) -> Result<OpenOrders, QueryError> {
        let acquirer = acquirer.clone();
        self.pool().read(move |session| count(session, &acquirer)).await
    }

    async fn list_open_orders(&self) -> Result<Vec<(AcquirerName, OpenOrders)>, QueryError> {
        self.pool().read(open_orders).await
    }
}

/// Returns the open orders at each acquirer whose lists the service has read.
pub(crate) fn open_orders(session: &mut dyn Session) -> Result<Vec<(AcquirerName, OpenOrders)>, Fault> {
    let names = session.load::<String>(&Query::new(ACQUIRERS))?;
    let counted = names.iter().map(|name| {
        let name = acquirer("list_positions", name)?;
        let open = count(session, &name)?;
        Ok((name, open))
    });
    counted.collect()
}

fn count(session: &mut dyn Session, acquirer: &AcquirerName) -> Result<OpenOrders, Fault> {
    let query = Query::new(OPEN_ORDERS);
    let query = (0..4).fold(query, |query, _| query.bind(acquirer.as_str()).bind(OpenOrders::MOST));
    let (charges, payouts, refunds, infractions) =
        session.load::<(i64, i64, i64, i64)>(&query)?.pop().unwrap_or_default();
    let [charges, payouts, refunds, infractions] =
        [charges, payouts, refunds, infractions].map(|count| u64::try_from(count).unwrap_or_default());
    Ok(OpenOrders { charges, payouts, refunds, infractions })
}

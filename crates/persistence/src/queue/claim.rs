//! The parts of a claim that both engines share: its endpoints, and the content of the claimed deliveries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cais_domain::ids::EndpointId;
use cais_domain::merchant::webhook::Endpoint;
use cais_ports::{ClaimedDelivery, DeliveryClaim, EndpointQueue, alerts};

use crate::rows::Record as _;
use crate::rows::delivery::{self, ClaimedRow};
use crate::rows::endpoint::EndpointRow;

/// A statement that reads claimed deliveries. `source` is the table of their rows in the queue, and has the alias `t`. `due` is two
/// columns: the due time, and the number of the endpoint's free slots. SQLite does not use the number and passes 0.
macro_rules! claimed_text {
    ($source:literal, $due:literal) => {
        concat!(
            "SELECT t.account_id, t.endpoint_id, t.id, t.fence, t.tries + 1, d.event_id, d.event_type, d.sequence, v.data, COALESCE(v.created_at, d.created_at), f.failing_since, ",
            $due,
            " FROM ",
            $source,
            " AS t JOIN deliveries AS d ON d.account_id = t.account_id AND d.endpoint_id = t.endpoint_id AND d.id = t.id \
             LEFT JOIN events AS v ON v.account_id = d.account_id AND v.sequence = d.sequence \
             LEFT JOIN endpoint_failures AS f ON f.account_id = t.account_id AND f.endpoint_id = t.endpoint_id AND f.epoch = t.epoch"
        )
    };
}
pub(crate) use claimed_text;

/// The endpoints whose deliveries may be claimed, by their ids.
pub(crate) type Endpoints = BTreeMap<EndpointId, Arc<Endpoint>>;

/// Returns the queues of a claim, each once.
pub(crate) fn queues_of(claim: &DeliveryClaim) -> BTreeSet<EndpointQueue> {
    claim.queues.iter().copied().collect()
}

/// Returns the endpoints of rows. Unreadable endpoints are logged and skipped, so that the others are served.
pub(crate) fn endpoints(rows: Vec<EndpointRow<'_>>) -> Endpoints {
    let mut endpoints = Endpoints::new();
    for row in rows {
        match Endpoint::read(row) {
            Ok(endpoint) => {
                endpoints.insert(endpoint.id, Arc::new(endpoint));
            }
            Err(fault) => {
                tracing::error!(alert = alerts::RECORD_UNREADABLE, %fault, "webhook endpoint cannot be read; its deliveries wait");
            }
        }
    }
    endpoints
}

/// Returns the claimed deliveries with their endpoints. Unreadable deliveries are logged and skipped; they are due again when their lease
/// ends.
pub(crate) fn assemble(rows: Vec<ClaimedRow>, endpoints: &Endpoints) -> Vec<ClaimedDelivery> {
    let mut claimed = Vec::with_capacity(rows.len());
    for row in rows {
        let read = delivery::read_claimed(row).inspect_err(
            |fault| tracing::error!(alert = alerts::RECORD_UNREADABLE, %fault, "delivery cannot be read; it is claimed again after its lease"),
        );
        if let Ok(read) = read
            && let Some(endpoint) = endpoints.get(&read.key.endpoint)
        {
            claimed.push(ClaimedDelivery {
                key: read.key,
                fence: read.fence,
                tries: read.tries,
                event: read.event,
                endpoint: Arc::clone(endpoint),
                failing_since: read.failing_since,
            });
        }
    }
    claimed
}

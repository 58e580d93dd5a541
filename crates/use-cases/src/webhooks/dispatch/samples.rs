//! Claimed deliveries and responses for the tests of the dispatcher.

use std::sync::Arc;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::Endpoint;
use cais_ports::{AttemptError, ClaimedDelivery, DeliveredEvent, DeliveryKey, EndpointQueue, Sent, StoredEvent};
use cais_testkit::builders::{an_account, an_endpoint, fresh, queue_of, start};

/// An endpoint and its deliveries.
#[derive(Debug, Clone)]
pub(super) struct Receiver(pub Arc<Endpoint>);

impl Receiver {
    pub(super) fn new() -> Self {
        Self(Arc::new(an_endpoint(an_account().id, 0)))
    }

    pub(super) fn queue(&self) -> EndpointQueue {
        queue_of(&self.0)
    }

    pub(super) fn delivery(&self) -> ClaimedDelivery {
        ClaimedDelivery {
            key: DeliveryKey { account: self.0.account, endpoint: self.0.id, id: fresh() },
            fence: 1,
            tries: 1,
            event: DeliveredEvent::Stored(StoredEvent {
                id: fresh(),
                sequence: 1,
                kind: EventType::ChargePaid,
                data: b"{}".to_vec(),
                created_at: start(),
            }),
            endpoint: Arc::clone(&self.0),
            failing_since: None,
        }
    }

    pub(super) fn deliveries(&self, count: usize) -> Vec<ClaimedDelivery> {
        (0..count).map(|_| self.delivery()).collect()
    }
}

pub(super) fn accepted() -> Sent {
    Sent { status_code: Some(200), error: None, retry_after: None, response_body: None, duration_ms: 7 }
}

pub(super) fn refused(status: u16) -> Sent {
    Sent { status_code: Some(status), error: Some(AttemptError::Refused), ..accepted() }
}

//! Webhook endpoints, and deliveries for the queue.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{Endpoint, NewEndpoint, Postback, SealedSecret, Subscription, WebhookUrl};
use cais_ports::{EndpointQueue, NewDelivery};

use super::records::{expect_ok, fresh, number, start};

/// Returns an active endpoint in that slot of the account, at a new address, subscribed to every event.
#[must_use]
pub fn an_endpoint(account: AccountId, slot: u8) -> Endpoint {
    let asked = NewEndpoint {
        id: fresh(),
        url: a_webhook_url(),
        subscription: Subscription::All,
        description: None,
        secret: SealedSecret(vec![7; 60]),
    };
    Endpoint::new(account, slot, asked, start())
}

/// Returns a new address.
#[must_use]
pub fn a_webhook_url() -> WebhookUrl {
    expect_ok(WebhookUrl::parse(&format!("https://shop.example/hooks/{}", number())))
}

/// Returns the subscription to events of these types.
#[must_use]
pub fn subscribed(kinds: &[EventType]) -> Subscription {
    expect_ok(Subscription::parse(kinds.iter().map(|kind| kind.as_str())))
}

/// Returns a charge's reference to this endpoint.
#[must_use]
pub fn a_postback(endpoint: &Endpoint) -> Postback {
    Postback { endpoint: endpoint.id, url: endpoint.url.clone() }
}

/// Returns the queue of the endpoint in its current epoch.
#[must_use]
pub const fn queue_of(endpoint: &Endpoint) -> EndpointQueue {
    EndpointQueue { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}

/// Returns a test delivery to the endpoint, due at [`start`].
#[must_use]
pub fn a_test_delivery(endpoint: &Endpoint) -> NewDelivery {
    NewDelivery {
        id: fresh(),
        queue: queue_of(endpoint),
        event: fresh(),
        kind: EventType::WebhookTest,
        sequence: None,
        at: start(),
    }
}

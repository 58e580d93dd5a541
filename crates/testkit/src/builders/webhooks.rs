//! Webhook endpoints, and deliveries as the queue takes them.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::webhook::{Endpoint, NewEndpoint, Postback, SealedSecret, Subscription, WebhookUrl};
use cais_ports::{Lane, NewDelivery};

use super::records::{fresh, number, right, start};

/// An active endpoint in that place of the account, at an address of its own; it wants every event.
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

/// An address that no other endpoint has.
#[must_use]
pub fn a_webhook_url() -> WebhookUrl {
    right(WebhookUrl::parse(&format!("https://shop.example/hooks/{}", number())))
}

/// The wish for events of these types.
#[must_use]
pub fn subscribed(kinds: &[EventType]) -> Subscription {
    right(Subscription::parse(kinds.iter().map(|kind| kind.as_str())))
}

/// What a charge keeps that names this endpoint.
#[must_use]
pub fn a_postback(endpoint: &Endpoint) -> Postback {
    Postback { endpoint: endpoint.id, url: endpoint.url.clone() }
}

/// What waits for the endpoint in its present epoch.
#[must_use]
pub const fn lane_of(endpoint: &Endpoint) -> Lane {
    Lane { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch }
}

/// A test of the endpoint with a body of its own, due at once.
#[must_use]
pub fn a_test_delivery(endpoint: &Endpoint) -> NewDelivery {
    NewDelivery {
        id: fresh(),
        lane: lane_of(endpoint),
        event: fresh(),
        kind: EventType::WebhookTest,
        sequence: None,
        body: Some(format!(r#"{{"test":{}}}"#, number()).into_bytes()),
        at: start(),
    }
}

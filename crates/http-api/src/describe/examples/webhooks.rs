//! Examples of webhook endpoints, deliveries and events.

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint, NewEndpoint, SealedSecret, Subscription, WebhookUrl};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Delivery, DeliveryAttempt, ResourceRenderer as _, StoredEvent};
use jiff::Timestamp;
use serde_json::Value;

use super::{charge, value};
use crate::resources::JsonRenderer;
use crate::resources::event::Event;
use crate::resources::values::Page;
use crate::resources::webhook::{Delivery as Row, DeliveryList, WebhookEndpoint, WebhookEndpointWithSecret};

const ACCOUNT: &str = "acc_01h455vb4pex5vsknk084sn02q";
const EVENT: &str = "evt_01h455vb4pex5vsknk084sn02x";
/// A secret for examples only: the bytes 0 to 31.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Returns an endpoint.
pub fn endpoint() -> Option<Value> {
    value(&WebhookEndpoint::from(&registered()?))
}

/// Returns an endpoint with its secret.
pub fn endpoint_with_secret() -> Option<Value> {
    value(&WebhookEndpointWithSecret::new(&registered()?, SECRET.to_owned()))
}

/// Returns a page with an endpoint.
pub fn endpoints() -> Option<Value> {
    let endpoint = registered()?;
    value(&Page::new(vec![WebhookEndpoint::from(&endpoint)], Some(endpoint.id)))
}

/// Returns a delivery before its first attempt.
pub fn pending_delivery() -> Option<Value> {
    value(&Row::from(&waiting()?))
}

/// Returns a page with a delivery that succeeded at the second attempt.
pub fn deliveries() -> Option<Value> {
    let failed = DeliveryAttempt {
        at: instant("2026-01-02T12:03:04.570Z")?,
        status_code: Some(503),
        duration_ms: 12,
        error: Some("status_not_2xx".to_owned()),
        response_body: Some("try later".to_owned()),
    };
    let succeeded = DeliveryAttempt {
        at: instant("2026-01-02T12:03:09.640Z")?,
        status_code: Some(204),
        duration_ms: 9,
        error: None,
        response_body: None,
    };
    let delivery = Delivery {
        status: DeliveryStatus::Succeeded,
        attempts: vec![failed, succeeded],
        next_attempt_at: None,
        ..waiting()?
    };
    value(&Page::new(vec![Row::from(&delivery)], Some(delivery.id)))
}

/// Returns the response to a resent event.
pub fn resent() -> Option<Value> {
    value(&DeliveryList { data: vec![Row::from(&waiting()?)] })
}

/// Returns an event.
pub fn event() -> Option<Value> {
    value(&Event::from(&example_event()?))
}

/// Returns a page with an event.
pub fn events() -> Option<Value> {
    let event = example_event()?;
    value(&Page::new(vec![Event::from(&event)], Some(event.id)))
}

fn registered() -> Option<Endpoint> {
    let new_endpoint = NewEndpoint {
        id: EndpointId::parse("whe_01h455vb4pex5vsknk084sn02z").ok()?,
        url: WebhookUrl::parse("https://shop.example/hooks/cais").ok()?,
        subscription: Subscription::parse(["charge.paid", "infraction.opened"]).ok()?,
        description: Some(Text::parse("Orders", 200, LineBreaks::Allowed).ok()?),
        secret: SealedSecret(Vec::new()),
    };
    Some(Endpoint::new(AccountId::parse(ACCOUNT).ok()?, 0, new_endpoint, instant("2026-01-02T11:00:00Z")?))
}

fn waiting() -> Option<Delivery> {
    let at = instant("2026-01-02T12:03:04.567Z")?;
    Some(Delivery {
        id: DeliveryId::parse("dlv_01h455vb4pex5vsknk084sn02y").ok()?,
        endpoint: EndpointId::parse("whe_01h455vb4pex5vsknk084sn02z").ok()?,
        event: EventId::parse(EVENT).ok()?,
        kind: EventType::ChargePaid,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(at),
        created_at: at,
    })
}

fn example_event() -> Option<StoredEvent> {
    Some(StoredEvent {
        id: EventId::parse(EVENT).ok()?,
        sequence: 7,
        kind: EventType::ChargePaid,
        data: JsonRenderer::new().charge(&charge(true)?),
        created_at: instant("2026-01-02T12:03:04.567Z")?,
    })
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

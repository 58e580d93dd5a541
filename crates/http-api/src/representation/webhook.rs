//! Webhook endpoints and deliveries on the wire.

use std::fmt::Display;

use cais_domain::text::Text;
use cais_domain::webhook::{Endpoint, EndpointState};
use cais_ports::{Delivery, DeliveryAttempt};

use super::object::{Object, write_quoted};

/// Room for an endpoint: one allocation is enough for nearly all.
const ENDPOINT_BYTES: usize = 512;
/// Room for a delivery without its attempts.
const DELIVERY_BYTES: usize = 320;
/// Room for an attempt without what was answered.
const ATTEMPT_BYTES: usize = 160;

/// An endpoint; its secret is nowhere in it.
#[must_use]
pub fn endpoint(endpoint: &Endpoint) -> Vec<u8> {
    common(endpoint).finish()
}

/// An endpoint with its secret, as it is shown once.
#[must_use]
pub fn endpoint_with_secret(endpoint: &Endpoint, secret: &str) -> Vec<u8> {
    let mut object = common(endpoint);
    object.plain_text("secret", &secret);
    object.finish()
}

fn common(endpoint: &Endpoint) -> Object {
    let disabled_reason = match endpoint.state {
        EndpointState::Disabled { reason, .. } => Some(reason.as_str()),
        EndpointState::Active | EndpointState::Inactive | EndpointState::Deleted { .. } => None,
    };
    let events: Vec<Vec<u8>> = endpoint
        .subscription
        .names()
        .iter()
        .map(|name| {
            let mut quoted = Vec::with_capacity(name.len().saturating_add(2));
            write_quoted(&mut quoted, name);
            quoted
        })
        .collect();
    let mut object = Object::with_capacity(ENDPOINT_BYTES);
    object.plain_text("id", &endpoint.id);
    object.optional_text("url", Some(endpoint.url.as_str()));
    object.list("events", &events);
    object.optional_text("description", endpoint.description.as_ref().map(Text::as_str));
    object.literal("active", &endpoint.is_active());
    object.optional_plain("disabled_reason", disabled_reason);
    object.optional_instant("created_at", Some(endpoint.created_at));
    object
}

/// A delivery with everything that was tried.
#[must_use]
pub fn delivery(delivery: &Delivery) -> Vec<u8> {
    let attempts: Vec<Vec<u8>> = delivery.attempts.iter().map(attempt).collect();
    let room = attempts.iter().map(Vec::len).sum::<usize>().saturating_add(DELIVERY_BYTES);
    let mut object = Object::with_capacity(room);
    object.plain_text("id", &delivery.id);
    object.plain_text("event_id", &delivery.event);
    object.plain_text("event_type", &delivery.kind.as_str());
    object.plain_text("status", &delivery.status.as_str());
    object.list("attempts", &attempts);
    object.optional_instant("next_attempt_at", delivery.next_attempt_at);
    object.optional_instant("created_at", Some(delivery.created_at));
    object.finish()
}

fn attempt(attempt: &DeliveryAttempt) -> Vec<u8> {
    let answered = attempt.response_body.as_ref().map_or(0, String::len);
    let status_code = attempt.status_code;
    let mut object = Object::with_capacity(ATTEMPT_BYTES.saturating_add(answered));
    object.optional_instant("at", Some(attempt.at));
    object.optional_literal("status_code", status_code.as_ref().map(|code| -> &dyn Display { code }));
    object.literal("duration_ms", &attempt.duration_ms);
    object.optional_text("error", attempt.error.as_deref());
    object.optional_text("response_body", attempt.response_body.as_deref());
    object.finish()
}

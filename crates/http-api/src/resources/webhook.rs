//! The bodies of webhook endpoints and deliveries.

use cais_domain::merchant::webhook::{DeliveryStatus as Status, DisabledReason as Reason, Endpoint, EndpointState};
use cais_domain::text::Text;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Instant, Page, closed_list};
use crate::describe::events::EventType;

closed_list! {
    /// The reason why the service disabled an endpoint.
    DisabledReason [Reason::Gone, Reason::Failing].map(Reason::as_str)
}

closed_list! {
    /// The status of a delivery.
    DeliveryStatus Status::ALL.map(Status::as_str)
}

/// An address that receives events.
#[derive(Serialize, ToSchema)]
pub struct WebhookEndpoint<'a> {
    /// Public id, prefix `whe_`.
    pub id: String,
    /// The URL.
    pub url: &'a str,
    /// The subscribed types of events. `*` stands for all types, including types that later versions add.
    #[schema(value_type = Vec<String>)]
    pub events: Vec<&'static str>,
    /// A description for people.
    #[schema(required)]
    pub description: Option<&'a str>,
    /// True if events are sent to the endpoint.
    pub active: bool,
    /// The reason why the service disabled the endpoint; null if the service did not disable it.
    #[schema(value_type = Option<DisabledReason>, required)]
    pub disabled_reason: Option<&'static str>,
    /// Time of registration.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// An endpoint with its secret, which is shown only once.
#[derive(Serialize, ToSchema)]
pub struct WebhookEndpointWithSecret<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    endpoint: WebhookEndpoint<'a>,
    /// The signing secret: `whsec_` and the base64 of 32 bytes (Standard Webhooks, `v1`).
    pub secret: String,
}

/// A page of endpoints.
pub type WebhookEndpointPage = Page<WebhookEndpoint<'static>>;

/// A page of deliveries.
pub type DeliveryPage = Page<Delivery<'static>>;

impl<'a> From<&'a Endpoint> for WebhookEndpoint<'a> {
    fn from(endpoint: &'a Endpoint) -> Self {
        let disabled_reason = match endpoint.state {
            EndpointState::Disabled { reason, .. } => Some(reason.as_str()),
            EndpointState::Active | EndpointState::Inactive | EndpointState::Deleted { .. } => None,
        };
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.as_str(),
            events: endpoint.subscription.names(),
            description: endpoint.description.as_ref().map(Text::as_str),
            active: endpoint.is_active(),
            disabled_reason,
            created_at: Instant(endpoint.created_at),
        }
    }
}

impl<'a> WebhookEndpointWithSecret<'a> {
    /// Returns the body of `endpoint` with its secret as text.
    #[must_use]
    pub fn new(endpoint: &'a Endpoint, secret: String) -> Self {
        Self { endpoint: endpoint.into(), secret }
    }
}

/// An attempt at a delivery.
#[derive(Serialize, ToSchema)]
pub struct DeliveryAttempt<'a> {
    /// Time at which the attempt began.
    #[schema(value_type = String, format = DateTime)]
    pub at: Instant,
    /// The HTTP status of the receiver's response; null without a response.
    #[schema(required)]
    pub status_code: Option<u16>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u32,
    /// The reason of a failure, from a fixed list; null for a success.
    #[schema(required)]
    pub error: Option<&'a str>,
    /// The beginning of the receiver's response, at most 2 KiB.
    #[schema(required)]
    pub response_body: Option<&'a str>,
}

/// A delivery of an event to an endpoint.
#[derive(Serialize, ToSchema)]
pub struct Delivery<'a> {
    /// Public id, prefix `dlv_`.
    pub id: String,
    /// The id of the event.
    pub event_id: String,
    /// The type of the event.
    #[schema(value_type = EventType)]
    pub event_type: &'static str,
    /// The status.
    #[schema(value_type = DeliveryStatus)]
    pub status: &'static str,
    /// The attempts, oldest first; at most the last 50.
    pub attempts: Vec<DeliveryAttempt<'a>>,
    /// Time of the next attempt; null after the last attempt, and while the endpoint is inactive.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub next_attempt_at: Option<Instant>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

impl<'a> From<&'a cais_ports::Delivery> for Delivery<'a> {
    fn from(delivery: &'a cais_ports::Delivery) -> Self {
        Self {
            id: delivery.id.to_string(),
            event_id: delivery.event.to_string(),
            event_type: delivery.kind.as_str(),
            status: delivery.status.as_str(),
            attempts: delivery.attempts.iter().map(DeliveryAttempt::from).collect(),
            next_attempt_at: delivery.next_attempt_at.map(Instant),
            created_at: Instant(delivery.created_at),
        }
    }
}

impl<'a> From<&'a cais_ports::DeliveryAttempt> for DeliveryAttempt<'a> {
    fn from(attempt: &'a cais_ports::DeliveryAttempt) -> Self {
        Self {
            at: Instant(attempt.at),
            status_code: attempt.status_code,
            duration_ms: attempt.duration_ms,
            error: attempt.error.as_deref(),
            response_body: attempt.response_body.as_deref(),
        }
    }
}

/// The new deliveries of a resent event.
#[derive(Serialize, ToSchema)]
pub struct DeliveryList<'a> {
    /// A delivery for each endpoint that receives the event again.
    pub data: Vec<Delivery<'a>>,
}

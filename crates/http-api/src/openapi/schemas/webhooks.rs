//! The shapes of webhook endpoints, deliveries and events.

use utoipa::ToSchema;

use crate::openapi::events::{Event, EventType};

/// Why an endpoint is not called any more.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DisabledReason {
    /// It answered 410.
    Gone,
    /// For five days every attempt failed.
    Failing,
}

/// Where a merchant wants to hear of events.
#[derive(ToSchema)]
pub struct WebhookEndpoint {
    /// Public id, prefix `whe_`.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// Types of events, or `*` for all of them, also such that come with later versions.
    pub events: Vec<String>,
    /// What people call it.
    #[schema(required)]
    pub description: Option<String>,
    /// Whether it is called.
    pub active: bool,
    /// Why the service disabled it.
    #[schema(required)]
    pub disabled_reason: Option<DisabledReason>,
    /// When it was registered.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// An endpoint with its secret, which is shown this once.
#[derive(ToSchema)]
pub struct WebhookEndpointWithSecret {
    /// Public id, prefix `whe_`.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// Types of events, or `*` for all of them, also such that come with later versions.
    pub events: Vec<String>,
    /// What people call it.
    #[schema(required)]
    pub description: Option<String>,
    /// Whether it is called.
    pub active: bool,
    /// Why the service disabled it.
    #[schema(required)]
    pub disabled_reason: Option<DisabledReason>,
    /// When it was registered.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// What signs: `whsec_` and the base64 of 32 bytes (Standard Webhooks, `v1`).
    pub secret: String,
}

/// A page of webhook endpoints, newest first.
#[derive(ToSchema)]
pub struct WebhookEndpointPage {
    /// The rows.
    pub data: Vec<WebhookEndpoint>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

/// What a webhook endpoint is registered with.
#[derive(ToSchema)]
pub struct NewWebhookEndpoint {
    /// Where it is: https, at a public address; unique within the account.
    #[schema(format = "uri", max_length = 500)]
    pub url: String,
    /// Types of events, or `*` for all of them.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Vec<String>,
    /// What people call it.
    #[schema(max_length = 200)]
    pub description: Option<String>,
}

/// What is changed of a webhook endpoint; what is not named stays as it is.
#[derive(ToSchema)]
pub struct WebhookEndpointChange {
    /// Where it is.
    #[schema(format = "uri", max_length = 500)]
    pub url: Option<String>,
    /// Types of events, or `*` for all of them.
    #[schema(min_items = 1, max_items = 30)]
    pub events: Option<Vec<String>>,
    /// What people call it; `null` takes it away.
    #[schema(max_length = 200)]
    pub description: Option<String>,
    /// Whether it is called; `true` also ends what the service disabled.
    pub active: Option<bool>,
}

/// How a secret is changed.
#[derive(ToSchema)]
pub struct SecretRotation {
    /// Seconds for which the previous secret signs as well; 86400 when absent.
    #[schema(minimum = 0, maximum = 604_800)]
    pub grace_seconds: Option<u32>,
}

/// Where a delivery stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is tried, now or later.
    Pending,
    /// The receiver took it.
    Succeeded,
    /// Every attempt of the schedule failed.
    Failed,
    /// Its endpoint was disabled or deleted.
    Cancelled,
}

/// One attempt at a delivery.
#[derive(ToSchema)]
pub struct DeliveryAttempt {
    /// When it began.
    #[schema(format = DateTime)]
    pub at: String,
    /// The status that the receiver answered with.
    #[schema(required)]
    pub status_code: Option<u16>,
    /// How long it took.
    pub duration_ms: u32,
    /// Why it failed: one of a fixed list of words; null for a success.
    #[schema(required)]
    pub error: Option<String>,
    /// The beginning of what the receiver answered, at most 2 KiB.
    #[schema(required)]
    pub response_body: Option<String>,
}

/// A delivery of an event to an endpoint.
#[derive(ToSchema)]
pub struct Delivery {
    /// Public id, prefix `dlv_`.
    pub id: String,
    /// The event.
    pub event_id: String,
    /// Its type.
    pub event_type: EventType,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// What was tried, the oldest first; at most the last 50.
    pub attempts: Vec<DeliveryAttempt>,
    /// Time of the next attempt; null while the endpoint is inactive.
    #[schema(required, format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// When it was made.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A page of deliveries, newest first.
#[derive(ToSchema)]
pub struct DeliveryPage {
    /// The rows.
    pub data: Vec<Delivery>,
    /// Whether older rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

/// The deliveries that an event is given again.
#[derive(ToSchema)]
pub struct DeliveryList {
    /// One for each endpoint.
    pub data: Vec<Delivery>,
}

/// Why a payment was not, or not only, what its charge asked for.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum UnexpectedReason {
    /// The payment paid the charge and exceeded its amount.
    Overpaid,
    /// Another payment had paid the charge before.
    Duplicate,
    /// The payment was below the amount of a charge that nobody had paid.
    Underpaid,
    /// The charge was given up before anybody could see it.
    Late,
}

/// The data of `payment.unexpected`: money that was credited beyond what a charge asked for. `POST /v1/charges/{charge_id}/refunds`
/// with this `end_to_end_id` and `amount` gives back exactly that.
#[derive(ToSchema)]
pub struct UnexpectedPayment {
    /// The Pix.
    pub end_to_end_id: String,
    /// The part that the charge did not ask for: of an overpayment the excess, of any other payment all of it.
    #[schema(example = 10.50)]
    pub amount: f64,
    /// Why the charge did not ask for it.
    pub reason: UnexpectedReason,
    /// The charge that the Pix was for.
    pub charge_id: String,
    /// When the acquirer received the Pix.
    #[schema(format = DateTime)]
    pub received_at: String,
}

/// The data of `webhook.test`.
#[derive(ToSchema)]
pub struct WebhookTestData {
    /// The endpoint that is tested.
    pub endpoint_id: String,
    /// A sentence that is always the same.
    pub message: String,
}

/// A page of events.
#[derive(ToSchema)]
pub struct EventPage {
    /// The rows: the newest first, or with `after_sequence` the oldest.
    pub data: Vec<Event>,
    /// Whether further rows exist.
    pub has_more: bool,
    /// The `starting_after` of the next page.
    #[schema(required)]
    pub next_starting_after: Option<String>,
}

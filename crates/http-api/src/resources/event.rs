//! The bodies of events.

use cais_domain::event::EventType;
use cais_domain::ids::{EndpointId, EventId};
use cais_ports::{StoredEvent, alerts};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::values::{Instant, to_json};

/// The version of the interface. The stored data of every event has the form of this version.
///
/// A repeated delivery must send the same bytes. So before a version changes the data of events, the table `events` needs a column with
/// the version of each row.
pub const API_VERSION: &str = "1.1.0";

/// An event, in the same form in deliveries and in `GET /v1/events/{id}`.
#[derive(Serialize, ToSchema)]
pub struct Event<'a> {
    /// Public id, prefix `evt_`; also the header `webhook-id`.
    pub id: String,
    /// The event's type.
    pub r#type: &'static str,
    /// Time of the event.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Instant,
    /// The number of the event within its account, from 1 without a gap; null for `webhook.test`.
    #[schema(required)]
    pub sequence: Option<i64>,
    /// The version of the interface that `data` follows.
    pub api_version: &'static str,
    #[schema(value_type = Object)]
    data: &'a RawValue,
}

/// The data of `webhook.test`.
#[derive(Serialize, ToSchema)]
pub struct WebhookTestData {
    /// The tested endpoint.
    pub endpoint_id: String,
    /// A constant sentence.
    pub message: &'static str,
}

impl<'a> From<&'a StoredEvent> for Event<'a> {
    fn from(event: &'a StoredEvent) -> Self {
        Self::new((event.id, event.kind), event.created_at, Some(event.sequence), &event.data)
    }
}

impl<'a> Event<'a> {
    fn new((id, kind): (EventId, EventType), at: Timestamp, sequence: Option<i64>, data: &'a [u8]) -> Self {
        let data = serde_json::from_slice(data).unwrap_or_else(|error| {
            tracing::error!(alert = alerts::RECORD_UNREADABLE, event = %id, %error, "data of an event is no JSON; the event is sent without data");
            RawValue::NULL
        });
        Self {
            id: id.to_string(),
            r#type: kind.as_str(),
            timestamp: Instant(at),
            sequence,
            api_version: API_VERSION,
            data,
        }
    }
}

/// Returns the body of the event `webhook.test`, which a merchant requests to test `endpoint`.
#[must_use]
pub fn endpoint_test(id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8> {
    let message = "This is a test: the endpoint works.";
    let data = to_json(&WebhookTestData { endpoint_id: endpoint.to_string(), message });
    to_json(&Event::new((id, EventType::WebhookTest), at, None, &data))
}

//! Webhooks of Woovi's API, their events, and waiting deliveries.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// An event that the sandbox publishes, by its name in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A charge was created through this API.
    #[serde(rename = "OPENPIX:CHARGE_CREATED")]
    ChargeCreated,
    /// A charge was paid.
    #[serde(rename = "OPENPIX:CHARGE_COMPLETED")]
    ChargeCompleted,
    /// A charge has expired unpaid.
    #[serde(rename = "OPENPIX:CHARGE_EXPIRED")]
    ChargeExpired,
    /// A Pix arrived.
    #[serde(rename = "OPENPIX:TRANSACTION_RECEIVED")]
    TransactionReceived,
    /// A received Pix was returned, or a sent Pix came back. Deprecated by Woovi.
    #[serde(rename = "OPENPIX:TRANSACTION_REFUND_RECEIVED")]
    RefundReceived,
    /// A sent Pix came back.
    #[serde(rename = "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED")]
    ReturnConfirmed,
    /// A received Pix was returned.
    #[serde(rename = "PIX_TRANSACTION_REFUND_SENT_CONFIRMED")]
    RefundConfirmed,
    /// The return of a received Pix failed.
    #[serde(rename = "PIX_TRANSACTION_REFUND_SENT_REJECTED")]
    RefundRejected,
    /// A payment reached its recipient.
    #[serde(rename = "OPENPIX:MOVEMENT_CONFIRMED")]
    MovementConfirmed,
    /// A payment failed.
    #[serde(rename = "OPENPIX:MOVEMENT_FAILED")]
    MovementFailed,
    /// A payment was removed before its approval.
    #[serde(rename = "OPENPIX:MOVEMENT_REMOVED")]
    MovementRemoved,
    /// A dispute was opened or reopened.
    #[serde(rename = "OPENPIX:DISPUTE_CREATED")]
    DisputeCreated,
    /// A dispute was lost.
    #[serde(rename = "OPENPIX:DISPUTE_ACCEPTED")]
    DisputeAccepted,
    /// A dispute was won.
    #[serde(rename = "OPENPIX:DISPUTE_REJECTED")]
    DisputeRejected,
    /// A dispute was withdrawn.
    #[serde(rename = "OPENPIX:DISPUTE_CANCELED")]
    DisputeCanceled,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 15] = [
        Self::ChargeCreated,
        Self::ChargeCompleted,
        Self::ChargeExpired,
        Self::TransactionReceived,
        Self::RefundReceived,
        Self::ReturnConfirmed,
        Self::RefundConfirmed,
        Self::RefundRejected,
        Self::MovementConfirmed,
        Self::MovementFailed,
        Self::MovementRemoved,
        Self::DisputeCreated,
        Self::DisputeAccepted,
        Self::DisputeRejected,
        Self::DisputeCanceled,
    ];
}

/// A registered webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The id, a `globalID`: base64 of `Webhook:` and a random text.
    pub id: Arc<str>,
    /// The name that the client chose.
    pub name: Box<str>,
    /// The only event that the webhook receives.
    pub event: Event,
    /// The address of deliveries, without any suffix.
    pub url: Box<str>,
    /// The header `Authorization` of deliveries, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Box<str>>,
    /// `false`: the webhook receives only the test delivery after its registration.
    pub is_active: bool,
    /// The instant of registration.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// No object, in the test delivery after the registration of a webhook.
    Test,
    /// The charge with this txid.
    Charge(Arc<str>),
    /// The received Pix with this end-to-end id.
    Pix(Arc<str>),
    /// A return of a received Pix: the Pix's end-to-end id, and the id of the return.
    Refund(Arc<str>, Box<str>),
    /// The payment with this `correlationID`.
    Payment(Arc<str>),
    /// A return of a sent payment: the payment's `correlationID`, and the return's `rtrId`.
    Returned(Arc<str>, Arc<str>),
    /// The infraction with this id.
    Dispute(Arc<str>),
}

/// A waiting delivery: one event for one webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The id of the webhook.
    pub webhook_id: Arc<str>,
    /// The event.
    pub event: Event,
    /// The object that the event is about.
    pub subject: Subject,
}

/// The numbers of deliveries by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryTotals {
    /// The count of all deliveries so far. Deliveries are numbered from 0, so the next delivery gets this number.
    #[serde(rename = "due")]
    pub created: u64,
    /// Deliveries that were answered 2xx.
    pub delivered: u64,
    /// Deliveries that failed at the last attempt, or were dropped because too many waited.
    pub abandoned: u64,
}

//! What a consumer can be told: the closed list of event types.

/// The type of an event, as webhooks and `GET /events` name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventType {
    /// The first payment that reaches the amount arrived.
    ChargePaid,
    /// Nobody paid in time.
    ChargeExpired,
    /// The merchant cancelled.
    ChargeCancelled,
    /// All of it went back.
    ChargeRefunded,
    /// A payment was credited beyond what charges asked for.
    PaymentUnexpected,
    /// A share in another account's charge was credited.
    SplitReceived,
    /// A refund reached its payer.
    RefundCompleted,
    /// A refund will never reach its payer.
    RefundFailed,
    /// A payout reached its recipient.
    PayoutCompleted,
    /// A payout will never reach its recipient.
    PayoutFailed,
    /// All of a completed payout came back.
    PayoutReversed,
    /// A payer disputes a Pix: money is blocked.
    InfractionOpened,
    /// The acquirer has the defence.
    InfractionUnderReview,
    /// It was decided for the merchant: the money is free again.
    InfractionWon,
    /// It was decided for the payer: the money went back.
    InfractionLost,
    /// The payer's institution withdrew it: the money is free again.
    InfractionCancelled,
    /// A webhook endpoint was disabled, because it is gone or failed for days.
    WebhookEndpointDisabled,
    /// A merchant tries an endpoint; it has no sequence number and is in no list.
    WebhookTest,
}

impl EventType {
    /// Every type that something in this version can cause.
    pub const ALL: [Self; 18] = [
        Self::ChargePaid,
        Self::ChargeExpired,
        Self::ChargeCancelled,
        Self::ChargeRefunded,
        Self::PaymentUnexpected,
        Self::SplitReceived,
        Self::RefundCompleted,
        Self::RefundFailed,
        Self::PayoutCompleted,
        Self::PayoutFailed,
        Self::PayoutReversed,
        Self::InfractionOpened,
        Self::InfractionUnderReview,
        Self::InfractionWon,
        Self::InfractionLost,
        Self::InfractionCancelled,
        Self::WebhookEndpointDisabled,
        Self::WebhookTest,
    ];

    /// The name on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChargePaid => "charge.paid",
            Self::ChargeExpired => "charge.expired",
            Self::ChargeCancelled => "charge.cancelled",
            Self::ChargeRefunded => "charge.refunded",
            Self::PaymentUnexpected => "payment.unexpected",
            Self::SplitReceived => "split.received",
            Self::RefundCompleted => "refund.completed",
            Self::RefundFailed => "refund.failed",
            Self::PayoutCompleted => "payout.completed",
            Self::PayoutFailed => "payout.failed",
            Self::PayoutReversed => "payout.reversed",
            Self::InfractionOpened => "infraction.opened",
            Self::InfractionUnderReview => "infraction.under_review",
            Self::InfractionWon => "infraction.won",
            Self::InfractionLost => "infraction.lost",
            Self::InfractionCancelled => "infraction.cancelled",
            Self::WebhookEndpointDisabled => "webhook_endpoint.disabled",
            Self::WebhookTest => "webhook.test",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

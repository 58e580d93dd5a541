//! The closed list of event types.

/// The type of an event in webhooks and in `GET /events`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventType {
    /// The first sufficient payment arrived.
    ChargePaid,
    /// The payment period ended without a payment.
    ChargeExpired,
    /// The merchant cancelled the charge.
    ChargeCancelled,
    /// The whole amount was refunded.
    ChargeRefunded,
    /// A payment in excess of charges was credited.
    PaymentUnexpected,
    /// A share in another account's charge was credited.
    SplitReceived,
    /// A refund reached its payer.
    RefundCompleted,
    /// A refund failed for good.
    RefundFailed,
    /// A payout reached its recipient.
    PayoutCompleted,
    /// A payout failed for good.
    PayoutFailed,
    /// The whole amount of a completed payout came back.
    PayoutReversed,
    /// A payer disputes a Pix: money is blocked.
    InfractionOpened,
    /// The acquirer has the defense.
    InfractionUnderReview,
    /// The infraction was decided for the merchant; the money is free again.
    InfractionWon,
    /// The infraction was decided for the payer; the money was returned.
    InfractionLost,
    /// The payer's institution withdrew the infraction; the money is free again.
    InfractionCancelled,
    /// Coins of a crypto deposit are confirmed on the chain.
    CryptoDepositConfirmed,
    /// Coins of a crypto deposit were credited. The deposit shows their resolution.
    CryptoDepositCompleted,
    /// The payment period of a crypto deposit ended without coins.
    CryptoDepositExpired,
    /// The processor reports an error of a crypto deposit, or returned its coins to the payer.
    CryptoDepositFailed,
    /// The coins of a crypto withdrawal were sent.
    CryptoWithdrawalCompleted,
    /// A crypto withdrawal failed for good.
    CryptoWithdrawalFailed,
    /// The service disabled a webhook endpoint, because the endpoint is gone or failed for days.
    WebhookEndpointDisabled,
    /// A merchant's test of an endpoint. Test events have no sequence number and are in no list.
    WebhookTest,
}

impl EventType {
    /// Every type that this version can publish.
    pub const ALL: [Self; 24] = [
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
        Self::CryptoDepositConfirmed,
        Self::CryptoDepositCompleted,
        Self::CryptoDepositExpired,
        Self::CryptoDepositFailed,
        Self::CryptoWithdrawalCompleted,
        Self::CryptoWithdrawalFailed,
        Self::WebhookEndpointDisabled,
        Self::WebhookTest,
    ];

    /// Returns the name on the wire and in the store.
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
            Self::CryptoDepositConfirmed => "crypto.deposit.confirmed",
            Self::CryptoDepositCompleted => "crypto.deposit.completed",
            Self::CryptoDepositExpired => "crypto.deposit.expired",
            Self::CryptoDepositFailed => "crypto.deposit.failed",
            Self::CryptoWithdrawalCompleted => "crypto.withdrawal.completed",
            Self::CryptoWithdrawalFailed => "crypto.withdrawal.failed",
            Self::WebhookEndpointDisabled => "webhook_endpoint.disabled",
            Self::WebhookTest => "webhook.test",
        }
    }

    /// Returns the type with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

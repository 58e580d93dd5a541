//! All event types.

/// The type of an event in webhooks and in `GET /v1/events`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventType {
    /// A payment settled the charge.
    ChargePaid,
    /// The payment period ended without a sufficient payment.
    ChargeExpired,
    /// The merchant cancelled the charge.
    ChargeCancelled,
    /// The whole amount of the charge was refunded.
    ChargeRefunded,
    /// Money was credited that does not settle its charge: a surplus, or a whole payment.
    PaymentUnexpected,
    /// A share in another account's charge was credited.
    SplitReceived,
    /// The refunded amount reached the payer.
    RefundCompleted,
    /// A refund failed. The failure is final.
    RefundFailed,
    /// A payout reached its recipient.
    PayoutCompleted,
    /// A payout failed. The failure is final.
    PayoutFailed,
    /// The whole amount of a completed payout was returned.
    PayoutReversed,
    /// A payer disputes a Pix. Money of the account is blocked, up to the disputed amount.
    InfractionOpened,
    /// The acquirer has received a defense.
    InfractionUnderReview,
    /// The infraction was decided for the merchant. The blocked money is free again.
    InfractionWon,
    /// The infraction was decided for the payer. The blocked money was returned to the payer.
    InfractionLost,
    /// The payer's institution withdrew the infraction. The blocked money is free again.
    InfractionCancelled,
    /// Coins of a crypto deposit are confirmed on the chain.
    CryptoDepositConfirmed,
    /// Coins of a crypto deposit were credited. The deposit's `resolution` has the details.
    CryptoDepositCompleted,
    /// The payment period of a crypto deposit ended without coins.
    CryptoDepositExpired,
    /// The processor reports an error for a crypto deposit, or has returned its coins to the payer.
    CryptoDepositFailed,
    /// The coins of a crypto withdrawal were sent.
    CryptoWithdrawalCompleted,
    /// A crypto withdrawal failed. The failure is final.
    CryptoWithdrawalFailed,
    /// The service disabled a webhook endpoint, because the endpoint answered 410 (Gone) or failed for five days.
    WebhookEndpointDisabled,
    /// A merchant tests an endpoint. Test events have no sequence number, and no list contains them.
    WebhookTest,
}

impl EventType {
    /// All types that this version can publish.
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

    /// Returns the type's name in the API and in the store.
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

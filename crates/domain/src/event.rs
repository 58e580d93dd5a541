//! What a consumer can be told: the closed list of event types.

/// The type of an event, as webhooks and `GET /events` name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// The first payment that reaches the amount arrived.
    ChargePaid,
    /// Nobody paid in time.
    ChargeExpired,
    /// The merchant cancelled.
    ChargeCancelled,
    /// All of it went back.
    ChargeRefunded,
}

impl EventType {
    /// Every type that something in this version can cause.
    pub const ALL: [Self; 4] = [Self::ChargePaid, Self::ChargeExpired, Self::ChargeCancelled, Self::ChargeRefunded];

    /// The name on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChargePaid => "charge.paid",
            Self::ChargeExpired => "charge.expired",
            Self::ChargeCancelled => "charge.cancelled",
            Self::ChargeRefunded => "charge.refunded",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

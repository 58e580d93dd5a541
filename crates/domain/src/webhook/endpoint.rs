//! An endpoint and its steps.

use jiff::{SignedDuration, Timestamp};

use super::{Subscription, WebhookUrl};
use crate::event::EventType;
use crate::ids::{AccountId, EndpointId};
use crate::text::Text;

/// A signing secret as it is kept: encrypted under the master key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret(pub Vec<u8>);

impl std::fmt::Debug for SealedSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SealedSecret(..)")
    }
}

/// The secret before the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousSecret {
    /// It.
    pub secret: SealedSecret,
    /// Until when it signs as well.
    pub until: Timestamp,
}

/// Why the service disabled an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisabledReason {
    /// It answered 410.
    Gone,
    /// For days every attempt failed.
    Failing,
}

impl DisabledReason {
    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    /// The reason of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Gone, Self::Failing].into_iter().find(|reason| reason.as_str() == word)
    }
}

/// Whether an endpoint is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// It is.
    Active,
    /// The merchant paused the endpoint: its deliveries wait.
    Inactive,
    /// The service does not call it any more.
    Disabled {
        /// Why.
        reason: DisabledReason,
        /// Since when.
        at: Timestamp,
    },
    /// It is gone; it is in no list.
    Deleted {
        /// Since when.
        at: Timestamp,
    },
}

impl EndpointState {
    /// The word for merchants and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Disabled { .. } => "disabled",
            Self::Deleted { .. } => "deleted",
        }
    }
}

/// The endpoint that a charge named for its events: that one wherever it moves, and whichever has its address then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postback {
    /// The endpoint that had the address.
    pub endpoint: EndpointId,
    /// The address.
    pub url: WebhookUrl,
}

/// Where a merchant wants to hear of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its public identifier.
    pub id: EndpointId,
    /// Whose it is.
    pub account: AccountId,
    /// Which of the account's places it takes, from 0 and below [`super::MAX_ENDPOINTS`]: a place is reserved, so there are never more.
    pub slot: u8,
    /// Where it is.
    pub url: WebhookUrl,
    /// What it wants.
    pub subscription: Subscription,
    /// What people call it.
    pub description: Option<Text>,
    /// Whether it is called.
    pub state: EndpointState,
    /// The number of times the endpoint was disabled or deleted. Deliveries of an earlier epoch are cancelled and stay cancelled.
    pub epoch: i64,
    /// What signs.
    pub secret: SealedSecret,
    /// What signs as well, for a while after a rotation.
    pub previous: Option<PreviousSecret>,
    /// When it was made.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

/// What a merchant asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The identifier that it gets.
    pub id: EndpointId,
    /// Where it is.
    pub url: WebhookUrl,
    /// What it wants.
    pub subscription: Subscription,
    /// What people call it.
    pub description: Option<Text>,
    /// What signs.
    pub secret: SealedSecret,
}

/// What a merchant changes; `None` leaves it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointChange {
    /// Where it is.
    pub url: Option<WebhookUrl>,
    /// What it wants.
    pub subscription: Option<Subscription>,
    /// What people call it; `Some(None)` takes the description away.
    pub description: Option<Option<Text>>,
    /// Whether it is called.
    pub active: Option<bool>,
}

/// What follows from asking an endpoint to take a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointStep {
    /// It took the step.
    Taken(Box<Endpoint>),
    /// It had taken it before; nothing is to be done.
    AlreadyTaken(Box<Endpoint>),
}

/// Why an endpoint cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It is gone.
    #[error("the endpoint was deleted")]
    Deleted,
}

impl Endpoint {
    /// A new endpoint of the account in that place.
    #[must_use]
    pub fn new(account: AccountId, slot: u8, asked: NewEndpoint, at: Timestamp) -> Self {
        Self {
            id: asked.id,
            account,
            slot,
            url: asked.url,
            subscription: asked.subscription,
            description: asked.description,
            state: EndpointState::Active,
            epoch: 0,
            secret: asked.secret,
            previous: None,
            created_at: at,
            version: 0,
        }
    }

    /// Whether it is called.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == EndpointState::Active
    }

    /// Returns whether deliveries to the endpoint are created and kept. Deliveries to an inactive endpoint wait.
    #[must_use]
    pub const fn keeps_deliveries(&self) -> bool {
        matches!(self.state, EndpointState::Active | EndpointState::Inactive)
    }

    /// Whether a reader may know of it.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        !matches!(self.state, EndpointState::Deleted { .. })
    }

    /// Whether it hears of an event of that type; `postback` is what the event's charge named.
    #[must_use]
    pub fn subscribes_to(&self, kind: EventType, postback: Option<&Postback>) -> bool {
        let named = postback.is_some_and(|named| named.endpoint == self.id || named.url == self.url);
        self.keeps_deliveries() && (named || self.subscription.wants(kind))
    }

    /// Applies a change of the merchant.
    ///
    /// # Errors
    /// [`EndpointError::Deleted`].
    pub fn change(self, change: EndpointChange) -> Result<EndpointStep, EndpointError> {
        let before = self.visible()?;
        let state = match (change.active, before.state) {
            (None, state) | (Some(false), state @ (EndpointState::Inactive | EndpointState::Disabled { .. })) => state,
            (Some(true), _) => EndpointState::Active,
            (Some(false), _) => EndpointState::Inactive,
        };
        let after = Self {
            url: change.url.unwrap_or_else(|| before.url.clone()),
            subscription: change.subscription.unwrap_or_else(|| before.subscription.clone()),
            description: change.description.unwrap_or_else(|| before.description.clone()),
            ..before.clone()
        }
        .becomes(state);
        Ok(step(before, after))
    }

    /// A new secret signs; the one before signs as well for `grace_s` seconds.
    ///
    /// # Errors
    /// [`EndpointError::Deleted`].
    pub fn rotate(self, secret: SealedSecret, grace_s: u32, at: Timestamp) -> Result<EndpointStep, EndpointError> {
        let before = self.visible()?;
        let until = at.saturating_add(SignedDuration::from_secs(i64::from(grace_s))).unwrap_or(Timestamp::MAX);
        let previous = (grace_s > 0).then(|| PreviousSecret { secret: before.secret.clone(), until });
        Ok(EndpointStep::Taken(Box::new(Self { secret, previous, ..before })))
    }

    /// The service does not call it any more.
    ///
    /// # Errors
    /// [`EndpointError::Deleted`].
    pub fn disable(self, reason: DisabledReason, at: Timestamp) -> Result<EndpointStep, EndpointError> {
        let before = self.visible()?;
        if !before.is_active() {
            return Ok(EndpointStep::AlreadyTaken(Box::new(before)));
        }
        Ok(EndpointStep::Taken(Box::new(before.becomes(EndpointState::Disabled { reason, at }))))
    }

    /// Its merchant deletes it.
    #[must_use]
    pub fn delete(self, at: Timestamp) -> EndpointStep {
        if self.is_visible() {
            EndpointStep::Taken(Box::new(self.becomes(EndpointState::Deleted { at })))
        } else {
            EndpointStep::AlreadyTaken(Box::new(self))
        }
    }

    /// The secrets that sign at that instant, the current one first.
    #[must_use]
    pub fn signing(&self, at: Timestamp) -> Vec<&SealedSecret> {
        let previous = self.previous.as_ref().filter(|previous| at < previous.until);
        std::iter::once(&self.secret).chain(previous.map(|previous| &previous.secret)).collect()
    }

    fn visible(self) -> Result<Self, EndpointError> {
        if self.is_visible() { Ok(self) } else { Err(EndpointError::Deleted) }
    }

    fn becomes(self, state: EndpointState) -> Self {
        let kept = self.keeps_deliveries();
        let after = Self { state, ..self };
        let ends = kept && !after.keeps_deliveries();
        Self { epoch: after.epoch.saturating_add(i64::from(ends)), ..after }
    }
}

fn step(before: Endpoint, after: Endpoint) -> EndpointStep {
    if before == after { EndpointStep::AlreadyTaken(Box::new(before)) } else { EndpointStep::Taken(Box::new(after)) }
}

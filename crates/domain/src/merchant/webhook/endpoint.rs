//! A webhook endpoint and its steps.

use jiff::{SignedDuration, Timestamp};

use super::{Subscription, WebhookUrl};
use crate::event::EventType;
use crate::ids::{AccountId, EndpointId};
use crate::text::Text;

/// A signing secret in its stored form: encrypted with the master key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret(pub Vec<u8>);

impl std::fmt::Debug for SealedSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SealedSecret(..)")
    }
}

/// The previous secret, which still signs for a limited time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousSecret {
    /// The previous secret.
    pub secret: SealedSecret,
    /// The instant from which the secret no longer signs.
    pub until: Timestamp,
}

named! {
    /// The service's reason for disabling an endpoint.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DisabledReason {
        /// The endpoint answered with status 410.
        Gone = "gone",
        /// All attempts failed for five days (`FAILING_AFTER`).
        Failing = "failing",
    }
}

/// The state of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// The endpoint receives deliveries.
    Active,
    /// The merchant made the endpoint inactive. Its deliveries wait until the merchant activates the endpoint again.
    Inactive,
    /// The service disabled the endpoint. Waiting deliveries are cancelled, and no new ones are created.
    Disabled {
        /// The reason.
        reason: DisabledReason,
        /// The instant of the change.
        at: Timestamp,
    },
    /// The merchant deleted the endpoint. The API no longer shows it.
    Deleted {
        /// The instant of deletion.
        at: Timestamp,
    },
}

impl EndpointState {
    /// Returns the name in the API and in the store.
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

/// The webhook endpoint that the request for a charge or a crypto deposit names by its address (`postback_url`).
/// Whatever its subscription, the endpoint receives all events of the charge or deposit, even after its address
/// changed. If another endpoint has the address `url` when an event is published, that endpoint receives the event too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postback {
    /// The endpoint that had the address `url` when the charge or deposit was created.
    pub endpoint: EndpointId,
    /// The address in the request.
    pub url: WebhookUrl,
}

/// A merchant's receiver of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The public identifier.
    pub id: EndpointId,
    /// The owning account.
    pub account: AccountId,
    /// The number of the endpoint's slot, from 0 and below [`super::MAX_ENDPOINTS`]. Each endpoint of an account
    /// reserves a slot of its own. So an account has at most as many endpoints as slots.
    pub slot: u8,
    /// The address that receives the deliveries.
    pub url: WebhookUrl,
    /// The subscribed events.
    pub subscription: Subscription,
    /// The display name.
    pub description: Option<Text>,
    /// The state.
    pub state: EndpointState,
    /// A counter that increases when the endpoint is disabled or deleted. Waiting deliveries of an earlier epoch are
    /// cancelled. They stay cancelled if the endpoint is activated again.
    pub epoch: i64,
    /// The signing secret.
    pub secret: SealedSecret,
    /// The previous signing secret. `None` before the first rotation, and after a rotation without a grace period.
    pub previous: Option<PreviousSecret>,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The merchant's request to create an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The identifier of the new endpoint.
    pub id: EndpointId,
    /// The address that receives the deliveries.
    pub url: WebhookUrl,
    /// The subscribed events.
    pub subscription: Subscription,
    /// The display name.
    pub description: Option<Text>,
    /// The signing secret.
    pub secret: SealedSecret,
}

/// The merchant's change of an endpoint. `None` leaves a value unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointChange {
    /// The new address.
    pub url: Option<WebhookUrl>,
    /// The new subscription.
    pub subscription: Option<Subscription>,
    /// The display name. `Some(None)` removes it.
    pub description: Option<Option<Text>>,
    /// `true` activates an inactive or disabled endpoint. `false` makes an active endpoint inactive, and leaves a
    /// disabled endpoint disabled.
    pub active: Option<bool>,
}

/// The result of a step of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointStep {
    /// The step was applied.
    Taken(Box<Endpoint>),
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Box<Endpoint>),
}

/// The reason why an endpoint cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The endpoint was deleted.
    #[error("the endpoint was deleted")]
    Deleted,
}

impl Endpoint {
    /// Creates an endpoint of the account in the given slot.
    #[must_use]
    pub fn new(account: AccountId, slot: u8, request: NewEndpoint, at: Timestamp) -> Self {
        Self {
            id: request.id,
            account,
            slot,
            url: request.url,
            subscription: request.subscription,
            description: request.description,
            state: EndpointState::Active,
            epoch: 0,
            secret: request.secret,
            previous: None,
            created_at: at,
            version: 0,
        }
    }

    /// Returns whether the endpoint receives deliveries.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == EndpointState::Active
    }

    /// Returns whether deliveries to the endpoint are created and kept: the endpoint is neither disabled nor deleted.
    /// The deliveries of an inactive endpoint wait.
    #[must_use]
    pub const fn keeps_deliveries(&self) -> bool {
        matches!(self.state, EndpointState::Active | EndpointState::Inactive)
    }

    /// Returns whether the API shows the endpoint.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        !matches!(self.state, EndpointState::Deleted { .. })
    }

    /// Returns whether an event of type `kind` has a delivery to the endpoint. `postback` is the endpoint that the
    /// request for the event's charge or deposit named, if any.
    #[must_use]
    pub fn subscribes_to(&self, kind: EventType, postback: Option<&Postback>) -> bool {
        let named = postback.is_some_and(|named| named.endpoint == self.id || named.url == self.url);
        self.keeps_deliveries() && (named || self.subscription.includes(kind))
    }

    /// Applies a change that the merchant requested.
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

    /// Replaces the signing secret. If `grace_s` is above zero, the replaced secret also signs for that many seconds.
    ///
    /// # Errors
    /// [`EndpointError::Deleted`].
    pub fn rotate(self, secret: SealedSecret, grace_s: u32, at: Timestamp) -> Result<EndpointStep, EndpointError> {
        let before = self.visible()?;
        let until = at.saturating_add(SignedDuration::from_secs(i64::from(grace_s))).unwrap_or(Timestamp::MAX);
        let previous = (grace_s > 0).then(|| PreviousSecret { secret: before.secret.clone(), until });
        Ok(EndpointStep::Taken(Box::new(Self { secret, previous, ..before })))
    }

    /// Disables an active endpoint because of its failures. An inactive or disabled endpoint stays unchanged.
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

    /// Deletes the endpoint on the merchant's request.
    #[must_use]
    pub fn delete(self, at: Timestamp) -> EndpointStep {
        if self.is_visible() {
            EndpointStep::Taken(Box::new(self.becomes(EndpointState::Deleted { at })))
        } else {
            EndpointStep::AlreadyTaken(Box::new(self))
        }
    }

    /// Returns the secrets that sign a delivery at this instant: the current secret, then the previous secret if it
    /// still signs.
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

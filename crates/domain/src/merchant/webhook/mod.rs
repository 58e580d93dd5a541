//! Webhook endpoints: address, subscription, signing secrets and the schedule of deliveries.

mod delivery;
mod endpoint;
mod subscription;
mod url;

pub use delivery::{
    DeliveryStatus, FAILING_AFTER, MAX_RETRY_AFTER, MAX_RETRY_PAUSE, SCHEDULE_S, is_failing_for_good, next_attempt,
};
pub use endpoint::{
    DisabledReason, Endpoint, EndpointChange, EndpointError, EndpointState, EndpointStep, NewEndpoint, Postback,
    PreviousSecret, SealedSecret,
};
pub use subscription::{Subscription, SubscriptionError};
pub use url::{WebhookUrl, WebhookUrlError};

/// The largest number of tests and resends of an endpoint that can wait. The limit prevents floods of calls to a
/// receiver.
pub const MAX_WAITING_REQUESTS: u32 = 20;
/// The largest number of endpoints of an account.
pub const MAX_ENDPOINTS: u8 = 20;
/// The longest description of an endpoint, in characters.
pub const MAX_DESCRIPTION: usize = 200;
/// The longest address of an endpoint, in characters.
pub const MAX_URL: usize = 500;
/// The default time for which the previous secret still signs: one day, in seconds.
pub const DEFAULT_GRACE_S: u32 = 86_400;
/// The longest time for which the previous secret can still sign: one week, in seconds.
pub const MAX_GRACE_S: u32 = 604_800;

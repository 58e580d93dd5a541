//! `/v1/webhook-endpoints`.

pub mod change;
pub mod create;
pub mod delete;
pub mod deliveries;
mod failures;
pub mod get;
pub mod list;
pub mod request;
pub mod resend;
pub mod rotate;
pub mod test;

pub(crate) use self::failures::no_such_endpoint;

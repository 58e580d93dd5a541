//! Use cases of webhook endpoints and deliveries, and the dispatcher, which sends the deliveries.

pub mod change;
pub mod create;
pub mod delete;
pub mod deliveries;
mod disable;
pub mod dispatch;
mod error;
pub mod list;
pub mod postback;
mod records;
mod resend_event;
pub mod rotate;
pub mod test;

pub use error::{SendAgainError, WriteEndpointError};
pub use resend_event::resend_event;

//! Follows refunds with an open outcome.

use cais_domain::refund::Refund;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls a bounded number of the refunds whose outcome is open.
///
/// # Errors
/// [`WorkError`] if they cannot be listed. An error of one refund is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Refund>(ports).await
}

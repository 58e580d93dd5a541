//! Following refunds whose outcome is open.

use cais_domain::refund::Refund;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Asks about a bounded number of the refunds whose outcome is open.
///
/// # Errors
/// [`WorkError`] when they cannot be listed. An error of one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Refund>(ports).await
}

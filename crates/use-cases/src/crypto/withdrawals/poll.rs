//! Follows withdrawals with an open outcome, and verifies those that the processor shows as not verified.

use cais_domain::crypto::withdrawal::Withdrawal;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls a bounded number of the withdrawals whose outcome is open.
///
/// # Errors
/// [`WorkError`] if they cannot be listed. An error of one withdrawal is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Withdrawal>(ports).await
}

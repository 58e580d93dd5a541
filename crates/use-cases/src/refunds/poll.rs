//! Polls the refunds whose outcome is open.

use cais_domain::refund::Refund;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls at most `PASS_LIMIT` refunds whose outcome is open.
///
/// # Errors
/// [`WorkError`] if the due refunds cannot be listed. An error of one refund is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Refund>(ports).await
}

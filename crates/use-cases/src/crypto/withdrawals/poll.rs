//! Polls the withdrawals whose outcome is open. If the processor shows a withdrawal as not verified, the poll verifies
//! it with a one-time code.

use cais_domain::crypto::withdrawal::Withdrawal;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls at most `PASS_LIMIT` withdrawals whose outcome is open.
///
/// # Errors
/// [`WorkError`] if the due withdrawals cannot be listed. An error of one withdrawal is logged and does not stop the
/// others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Withdrawal>(ports).await
}

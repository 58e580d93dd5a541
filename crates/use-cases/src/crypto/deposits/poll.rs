//! Polls the deposits that wait for coins. Deposits that have ended are polled too, because coins can arrive late.

use cais_domain::crypto::Deposit;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls at most `PASS_LIMIT` due deposits.
///
/// # Errors
/// [`WorkError`] if the due deposits cannot be listed. An error of one deposit is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Deposit>(ports).await
}

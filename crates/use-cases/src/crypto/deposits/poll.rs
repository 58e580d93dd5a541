//! Polls deposits that wait for coins, also the late coins of ended ones.

use cais_domain::crypto::Deposit;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls a bounded number of due deposits.
///
/// # Errors
/// [`WorkError`] if they cannot be listed. An error of one deposit is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Deposit>(ports).await
}

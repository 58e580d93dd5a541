//! Polls the defenses whose outcome is open.

use cais_domain::infraction::Infraction;

use crate::ports::Ports;
use crate::upstream_order::poll;
use crate::work::{Pass, WorkError};

/// Polls at most `PASS_LIMIT` defenses whose outcome is open.
///
/// # Errors
/// [`WorkError`] if the due defenses cannot be listed. An error of one defense is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Infraction>(ports).await
}

//! Removing what nobody needs any more.

use cais_ports::Pruned;
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::work::{Pass, WorkError};

/// How long an answer can be repeated: 30 days.
const CLAIMS_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long done notices and the marks of committed batches are of use: a day, in which an operator can still look.
const MARKS_KEPT: SignedDuration = SignedDuration::from_hours(24);

/// Removes a bounded number of old rows.
///
/// # Errors
/// [`WorkError`] when the store does not answer.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let now = ports.clock.now();
    let before = |kept: SignedDuration| now.saturating_sub(kept).unwrap_or(Timestamp::MIN);
    let Pruned { claims, batches, notices } = ports.maintenance.prune(before(CLAIMS_KEPT), before(MARKS_KEPT)).await?;
    let removed = claims.saturating_add(batches).saturating_add(notices);
    Ok(Pass { done: usize::try_from(removed).unwrap_or(usize::MAX), more: removed > 0 })
}

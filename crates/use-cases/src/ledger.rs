//! Compares the stored balances of the ledger with its entries.

use cais_ports::{LedgerCheckResult, LedgerReport};

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Rebuilds every balance from its entries, and stores the number of differences for monitoring. A comparison whose
/// number cannot be stored is still returned, and a line is logged.
///
/// # Errors
/// [`StoreError`] if the ledger cannot be read.
pub async fn verify(ports: &Ports) -> Result<LedgerReport, StoreError> {
    let at = ports.clock.now();
    let report = ports.maintenance.verify_ledger().await?;
    let differences = u64::try_from(report.differences.len()).unwrap_or(u64::MAX);
    if let Err(error) = ports.maintenance.record_ledger_check(LedgerCheckResult { at, differences }).await {
        tracing::warn!(%error, "result of the ledger check could not be stored; metrics show an older result");
    }
    Ok(report)
}

//! Passes of background workers that set gauges from the records of the store and from the results of use cases.

use cais_ports::OpenOrders;
use cais_use_cases::{Pass, Ports, WorkError, acquirer_drain, callbacks, crypto, infractions, reconcile};

use super::gauges;

/// Updates the metrics of open and unmatched callbacks, of open payouts and refunds, and of open orders at drained
/// acquirers. Also updates the metrics of crypto reviews and of the last ledger check.
///
/// # Errors
/// A read of the store failed.
pub async fn count_open(ports: &Ports) -> Result<Pass, WorkError> {
    let counts = callbacks::count(ports).await?;
    gauges::show_callbacks(&ports.acquirers.names(), &counts);
    let now = ports.clock.now();
    gauges::show_open("payout", ports.queries.count_open_payouts().await?, now);
    gauges::show_open("refund", ports.queries.count_open_refunds().await?, now);
    if let Some(check) = ports.maintenance.last_ledger_check().await? {
        gauges::show_ledger_check(check);
    }
    let drained = acquirer_drain::drained(ports).await?;
    for name in ports.acquirers.names() {
        let is_drained = drained.contains(&name);
        let open = if is_drained { ports.queries.count_open_orders(&name).await? } else { OpenOrders::default() };
        gauges::show_drained_orders(&name, open);
    }
    if ports.crypto.is_some() {
        gauges::show_reviews("withdrawal", crypto::withdrawals::review::list(ports).await?.len());
        gauges::show_reviews("payment", crypto::deposits::review::list_payments(ports).await?.len());
    }
    Ok(Pass::default())
}

/// Runs one check of the deadlines of infractions, and counts its alerts by the hours before the deadline.
///
/// # Errors
/// The errors of [`infractions::alerts::run_once`].
pub async fn alerts(ports: &Ports) -> Result<Pass, WorkError> {
    let alerts = infractions::alerts::run_once(ports).await?;
    for alert in &alerts {
        gauges::count_alert(alert.hours);
    }
    Ok(Pass { done: alerts.len(), more: false })
}

/// Runs one reconciliation and sets its gauges.
///
/// # Errors
/// The errors of [`reconcile::run_once`].
pub async fn reconciliation(ports: &Ports) -> Result<Pass, WorkError> {
    let run = reconcile::run_once(ports).await?;
    for comparison in &run.comparisons {
        gauges::set_reconciled(comparison);
    }
    Ok(Pass { done: run.done, more: false })
}

/// Compares the coins at the crypto processor with the ledger, and sets the gauges.
///
/// # Errors
/// The errors of [`crypto::exposure::read`].
pub async fn exposure(ports: &Ports) -> Result<Pass, WorkError> {
    if let Some(crypto) = &ports.crypto {
        gauges::show_exposure(&crypto::exposure::read(ports, crypto).await?);
    }
    Ok(Pass::default())
}

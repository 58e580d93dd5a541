//! Acquirers that have open orders and are not in the configuration. The orders wait until their acquirer is configured
//! again.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{OpenOrders, QueryError};

use crate::Ports;

/// Returns the acquirers that have open orders and are not in `configured`, each with the numbers of its open orders.
///
/// # Errors
/// [`QueryError`].
pub async fn list(ports: &Ports, configured: &[&AcquirerName]) -> Result<Vec<(AcquirerName, OpenOrders)>, QueryError> {
    Ok(select(ports.queries.list_open_orders().await?, configured))
}

/// Selects from `counted` the acquirers that have open orders and are not in `configured`.
#[must_use]
pub fn select(
    mut counted: Vec<(AcquirerName, OpenOrders)>,
    configured: &[&AcquirerName],
) -> Vec<(AcquirerName, OpenOrders)> {
    counted.retain(|(name, open)| open.total() > 0 && !configured.contains(&name));
    counted
}

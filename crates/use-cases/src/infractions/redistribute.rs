//! Divides a disputed Pix among the infractions on it, as far as the Pix can still be blocked. The division is
//! committed with the change of the charge.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::{InfractionError, apportion};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Write};

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Adds blocks to the change set of a refund. If the refund fails, its money returns to the account, and the open
/// infractions on the Pix block this money at once. `beyond` is the part of this money that was paid beyond the
/// charge's amount.
///
/// `charge` is the charge after the change of the refund. The change set must write the charge, so that a concurrent
/// change makes the commit fail.
pub(crate) async fn hold(
    ports: &Ports,
    charge: &Charge,
    (end_to_end_id, beyond): (&EndToEndId, Money),
    change: &mut ChangeSet,
) -> Result<(), StoreError> {
    if charge.open_infractions == 0 {
        return Ok(());
    }
    let infractions = ports.queries.list_infractions_of_pix(charge.account, end_to_end_id).await?;
    // The charge's open infractions may all be on another Pix of the charge.
    if !infractions.iter().any(|infraction| infraction.state.status().is_open()) {
        return Ok(());
    }
    let payment = ports.queries.find_payment(charge.account, end_to_end_id).await?;
    let mut payment = payment.ok_or_else(|| StoreError::Internal(format!("the payment {end_to_end_id} is missing")))?;
    payment.refunded_beyond = payment.refunded_beyond.checked_sub(beyond).map_err(InfractionError::from)?;
    for infraction in apportion(&payment, charge, &infractions, None).map_err(InfractionError::from)? {
        change.blocks.push(infraction.hold());
        change.writes.push(Write::update(infraction));
    }
    Ok(())
}

//! What a step of a charge leaves of a disputed Pix: it is divided among its infractions in the same commit.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::{InfractionError, apportion};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Write};

use crate::ports::Ports;
use crate::trouble::Trouble;

/// Adds to a change set what is held from now on of a Pix of its charge, so that what a failed refund gives back is not free for
/// an instant. `beyond` is what the change gives back of money that was paid beyond the charge's amount.
///
/// `charge` is as it is after the change, which has to write it: then nobody changes meanwhile what was read here.
pub(crate) async fn hold(
    ports: &Ports,
    charge: &Charge,
    (end_to_end_id, beyond): (&EndToEndId, Money),
    change: &mut ChangeSet,
) -> Result<(), Trouble> {
    if charge.open_infractions == 0 {
        return Ok(());
    }
    let infractions = ports.queries.list_infractions_of_pix(charge.account, end_to_end_id).await?;
    // Those on the charge may all be about another Pix of it.
    if !infractions.iter().any(|infraction| infraction.state.status().is_open()) {
        return Ok(());
    }
    let payment = ports.queries.find_payment(charge.account, end_to_end_id).await?;
    let mut payment = payment.ok_or_else(|| Trouble::Internal(format!("the payment {end_to_end_id} is not there")))?;
    payment.refunded_beyond = payment.refunded_beyond.checked_sub(beyond).map_err(InfractionError::from)?;
    for infraction in apportion(&payment, charge, &infractions, None).map_err(InfractionError::from)? {
        change.blocks.push(infraction.hold());
        change.writes.push(Write::UpdateInfraction(Box::new(infraction)));
    }
    Ok(())
}

//! The part of a disputed Pix that can still be blocked. The blocks, refunds and MED returns of a Pix together never
//! exceed its amount.

use super::{Infraction, InfractionState};
use crate::charge::Charge;
use crate::ids::InfractionId;
use crate::money::{Money, MoneyError};
use crate::payment::CreditedPayment;

/// Returns the part of the Pix that infractions can still block. From the paid amount the function subtracts:
/// - the refunds of the Pix, completed or in flight;
/// - the amounts that lost infractions returned.
///
/// Money that open infractions block is not subtracted.
///
/// `charge` is the charge of the payment. `infractions` are all infractions on the Pix, in any state.
///
/// # Errors
/// [`MoneyError::OutOfRange`], impossible for stored values.
pub fn left_of(payment: &CreditedPayment, charge: &Charge, infractions: &[Infraction]) -> Result<Money, MoneyError> {
    let mut left = payment.payment.amount.checked_sub(payment.refunded_beyond)?;
    let settles =
        charge.state.settlement().is_some_and(|settled| settled.end_to_end_id == payment.payment.end_to_end_id);
    if settles {
        left = left.checked_sub(charge.refunds.in_flight)?.checked_sub(charge.refunds.done)?;
    }
    for infraction in infractions {
        if let InfractionState::Lost { returned, refunded, .. } = &infraction.state {
            // If the Pix settled the charge, `refunded` is part of `refunds.done` and was already subtracted.
            left = left.checked_sub(returned.checked_sub(if settles { *refunded } else { Money::ZERO })?)?;
        }
    }
    Ok(left.max(Money::ZERO))
}

/// Divides the part of a Pix that can still be blocked ([`left_of`]) among the open infractions. Returns each
/// infraction whose limit changes, with its new limit.
///
/// The oldest infraction comes first. If `lost` is set, the infraction with this id comes before all others, because
/// the acquirer has already debited its amount.
///
/// # Errors
/// [`MoneyError::OutOfRange`], impossible for stored values.
pub fn apportion(
    payment: &CreditedPayment,
    charge: &Charge,
    infractions: &[Infraction],
    lost: Option<InfractionId>,
) -> Result<Vec<Infraction>, MoneyError> {
    let mut left = left_of(payment, charge, infractions)?;
    let mut open: Vec<&Infraction> =
        infractions.iter().filter(|infraction| infraction.state.status().is_open()).collect();
    open.sort_by_key(|infraction| (Some(infraction.id) != lost, infraction.id));
    let mut changed = Vec::new();
    for infraction in open {
        // A limit is never negative, even if an acquirer reports a negative amount.
        let limit = infraction.amount.min(left).max(Money::ZERO);
        left = left.checked_sub(limit)?;
        if limit != infraction.limit {
            changed.push(Infraction { limit, ..infraction.clone() });
        }
    }
    Ok(changed)
}

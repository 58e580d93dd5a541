//! How much of a disputed Pix is left to be blocked: several infractions, refunds and returns never exceed it together.

use super::{Infraction, InfractionState};
use crate::charge::Charge;
use crate::ids::InfractionId;
use crate::money::{Money, MoneyError};
use crate::payment::CreditedPayment;

/// What is left of the Pix for infractions on it: what was paid, less refunds of it and less what infractions returned.
///
/// `charge` is the payment's, `infractions` are all of that Pix in whatever state.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which nothing of the store can cause.
pub fn left_of(payment: &CreditedPayment, charge: &Charge, infractions: &[Infraction]) -> Result<Money, MoneyError> {
    let mut left = payment.payment.amount.checked_sub(payment.refunded_beyond)?;
    let settles =
        charge.state.settlement().is_some_and(|settled| settled.end_to_end_id == payment.payment.end_to_end_id);
    if settles {
        left = left.checked_sub(charge.refunds.in_flight)?.checked_sub(charge.refunds.done)?;
    }
    for infraction in infractions {
        if let InfractionState::Lost { returned, refunded, .. } = &infraction.state {
            // What counts as refunded of the charge was subtracted with its refunds.
            left = left.checked_sub(returned.checked_sub(if settles { *refunded } else { Money::ZERO })?)?;
        }
    }
    Ok(left.max(Money::ZERO))
}

/// Divides what is left of a Pix among its open infractions: those whose limit changes, with the new one.
///
/// The oldest has the first claim, unless another one was `lost`: what its acquirer takes of the Pix, nobody else can.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which nothing of the store can cause.
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
        // An amount below zero is nothing that could be held.
        let limit = infraction.amount.min(left).max(Money::ZERO);
        left = left.checked_sub(limit)?;
        if limit != infraction.limit {
            changed.push(Infraction { limit, ..infraction.clone() });
        }
    }
    Ok(changed)
}

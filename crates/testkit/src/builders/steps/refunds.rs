//! The change sets of a refund's steps, with the effects of each step on the charge.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::payment::CreditedPayment;
use cais_domain::refund::{NewRefund, Refund, RefundChange, RefundStep, Refundable};
use cais_ports::{ChangeSet, Reservation, ReservationKey, ResourceRenderer as _, Write};
use jiff::Timestamp;

use super::super::records::{expect_ok, main_acquirer};
use super::{charge_event_of, event_of, write};
use crate::representation::TextRepresentation;

/// Returns commit 1 of a refund: the external id, the refund, the changed charge, and the hold. `charge` must have the
/// stored version.
#[must_use]
pub fn open_refund(charge: &Charge, request: &NewRefund, at: Timestamp) -> ChangeSet {
    begin_refund(charge, request, expect_ok(Refund::open(charge.clone(), request.clone(), main_acquirer(), at)), at)
}

/// Returns commit 1 of a refund of one payment of the charge. The payment must have no infraction.
#[must_use]
pub fn open_payment_refund(
    charge: &Charge,
    payment: &CreditedPayment,
    request: &NewRefund,
    at: Timestamp,
) -> ChangeSet {
    let refundable = Refundable { payment, infractions: &[] };
    begin_refund(
        charge,
        request,
        expect_ok(Refund::open_of_payment(charge.clone(), request.clone(), refundable, at)),
        at,
    )
}

fn begin_refund(charge: &Charge, request: &NewRefund, step: RefundStep, at: Timestamp) -> ChangeSet {
    let external_id = request.external_id.clone();
    let reserve = external_id.map(|external_id| Reservation {
        key: ReservationKey::RefundExternalId(charge.account, external_id),
        account: charge.account,
        owner: request.id.to_string(),
    });
    ChangeSet { reserve: reserve.into_iter().collect(), ..change_set_of(step, Write::insert, at) }
}

/// Returns the change set that updates the stored refund without a change of its charge. `refund` must have the stored
/// version.
#[must_use]
pub fn update_refund(refund: &Refund, at: Timestamp) -> ChangeSet {
    write(Write::update(refund.clone()), at)
}

/// Returns the change set that stores the effects of a step. A step that was taken before has no effects.
#[must_use]
pub fn move_refund(step: RefundStep, at: Timestamp) -> ChangeSet {
    change_set_of(step, Write::update, at)
}

fn change_set_of(step: RefundStep, write: impl FnOnce(Refund) -> Write, at: Timestamp) -> ChangeSet {
    let RefundStep::Taken(change) = step else {
        return ChangeSet::new(at);
    };
    let RefundChange { refund, charge, transfers, event, charge_event } = *change;
    let data = TextRepresentation.refund(&refund);
    let event = event.map(|kind| event_of(refund.account, kind, &refund.id.to_string(), data));
    let charge_event = charge.as_ref().zip(charge_event).map(|(charge, kind)| charge_event_of(charge, kind));
    let update = charge.map(Write::update);
    ChangeSet {
        writes: [write(refund)].into_iter().chain(update).collect(),
        transfers,
        events: event.into_iter().chain(charge_event).collect(),
        ..ChangeSet::new(at)
    }
}

/// Returns the change set that records the refund as sent, with an open outcome.
#[must_use]
pub fn send_refund(refund: &Refund, at: Timestamp) -> ChangeSet {
    move_refund(expect_ok(refund.clone().send(None, at)), at)
}

/// Returns the change set that completes the refund with that return id.
#[must_use]
pub fn complete_refund(refund: &Refund, charge: &Charge, return_id: ReturnId, at: Timestamp) -> ChangeSet {
    move_refund(expect_ok(refund.clone().complete(charge.clone(), Some(return_id), at)), at)
}

/// Returns the change set that fails the refund.
#[must_use]
pub fn fail_refund(refund: &Refund, charge: &Charge, at: Timestamp) -> ChangeSet {
    move_refund(expect_ok(refund.clone().fail(charge.clone(), "the payer's account is closed".to_owned(), at)), at)
}

/// Returns the change set that abandons the refund because the acquirer certainly did not accept it. The external id of
/// the refund is free again.
#[must_use]
pub fn abandon_refund(refund: &Refund, charge: &Charge, at: Timestamp) -> ChangeSet {
    let external_id = refund.external_id.clone();
    let unreserve = external_id.map(|external_id| ReservationKey::RefundExternalId(refund.account, external_id));
    let step = expect_ok(refund.clone().abandon(charge.clone(), at));
    ChangeSet { unreserve: unreserve.into_iter().collect(), ..move_refund(step, at) }
}

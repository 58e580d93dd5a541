//! The change sets of a payout's steps.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStep, Recipient};
use cais_ports::{
    ChangeSet, IdempotencyChange, IdempotencyRef, Reservation, ReservationKey, ResourceRenderer as _, Write,
};
use jiff::Timestamp;

use super::super::money_out::a_recipient;
use super::super::records::expect_ok;
use super::{event_of, new_idempotency_record, write};
use crate::representation::TextRepresentation;

/// Returns the change set that stores the payout with its unique values, and moves its money to `in_transit` (the
/// hold): commit 1 of a creation without an idempotency key.
#[must_use]
pub fn open_payout(payout: &Payout) -> ChangeSet {
    let instruction_id = reserve(payout, ReservationKey::InstructionId(payout.instruction_id()));
    ChangeSet {
        reserve: external_id(payout).map(|key| reserve(payout, key)).into_iter().chain([instruction_id]).collect(),
        writes: vec![Write::insert(payout.clone())],
        transfers: payout.hold(),
        ..ChangeSet::new(payout.created_at)
    }
}

/// Returns commit 1 of a creation: idempotency record, unique values, payout, hold.
#[must_use]
pub fn create_payout(payout: &Payout, name: IdempotencyRef) -> ChangeSet {
    let record = new_idempotency_record(name, &payout.id.to_string(), payout.created_at);
    ChangeSet { idempotency: Some(IdempotencyChange::Take(record)), ..open_payout(payout) }
}

/// Returns the change set that updates the stored payout, without other effects. `payout` must have the stored version.
#[must_use]
pub fn update_payout(payout: &Payout, at: Timestamp) -> ChangeSet {
    write(Write::update(payout.clone()), at)
}

/// Returns the change set that stores the effects of a step. A step that was taken before has no effects.
#[must_use]
pub fn move_payout(step: PayoutStep, at: Timestamp) -> ChangeSet {
    match step {
        PayoutStep::Taken { payout, transfers, event } => {
            let data = TextRepresentation.payout(&payout);
            let event = event.map(|kind| event_of(payout.account, kind, &payout.id.to_string(), data));
            ChangeSet { transfers, events: event.into_iter().collect(), ..update_payout(&payout, at) }
        }
        PayoutStep::AlreadyTaken(_) => ChangeSet::new(at),
    }
}

/// Returns the change set that records the payout as sent, with an open outcome.
#[must_use]
pub fn send_payout(payout: &Payout, at: Timestamp) -> ChangeSet {
    move_payout(expect_ok(payout.clone().send(None, Recipient::default(), at)), at)
}

/// Returns the change set that completes the payout with that Pix.
#[must_use]
pub fn complete_payout(payout: &Payout, end_to_end_id: EndToEndId, at: Timestamp) -> ChangeSet {
    move_payout(expect_ok(payout.clone().complete(end_to_end_id, a_recipient(), at)), at)
}

/// Returns the change set that fails the payout.
#[must_use]
pub fn fail_payout(payout: &Payout, at: Timestamp) -> ChangeSet {
    move_payout(expect_ok(payout.clone().fail("the key has no owner".to_owned(), at)), at)
}

/// Returns the change set that abandons the payout because the acquirer certainly did not accept it. The external id of
/// the payout is free again.
#[must_use]
pub fn abandon_payout(payout: &Payout, at: Timestamp) -> ChangeSet {
    let unreserve = external_id(payout).into_iter().collect();
    ChangeSet { unreserve, ..move_payout(expect_ok(payout.clone().abandon(at)), at) }
}

/// Returns the change set that reopens an abandoned payout and reserves its external id again.
#[must_use]
pub fn reopen_payout(payout: &Payout, at: Timestamp) -> ChangeSet {
    let reserve = external_id(payout).map(|key| reserve(payout, key)).into_iter().collect();
    let acquirer = payout.state.acquirer().clone();
    ChangeSet { reserve, ..move_payout(expect_ok(payout.clone().reopen(acquirer)), at) }
}

/// Returns the change set that credits a return of that many centavos of the payout.
#[must_use]
pub fn credit_return(payout: &Payout, centavos: i64, return_id: ReturnId, at: Timestamp) -> ChangeSet {
    let step = expect_ok(payout.clone().credit_return(Money::from_centavos(centavos), at));
    ChangeSet { reserve: vec![reserve(payout, ReservationKey::ReturnId(return_id))], ..move_payout(step, at) }
}

fn external_id(payout: &Payout) -> Option<ReservationKey> {
    let external_id = payout.terms.external_id.clone();
    external_id.map(|external_id| ReservationKey::PayoutExternalId(payout.account, external_id))
}

fn reserve(payout: &Payout, key: ReservationKey) -> Reservation {
    Reservation { key, account: payout.account, owner: payout.id.to_string() }
}

//! The change sets of the common steps, as the use cases build them.
//!
//! The creation of an order has two commits. Commit 1 stores the order before the request to the acquirer. Commit 2
//! stores the outcome of the request, and the response for repeats.

mod infractions;
mod payouts;
mod refunds;
mod webhooks;

pub use infractions::{infraction_key, move_infraction, open_infraction, update_infraction};
pub use payouts::{
    abandon_payout, complete_payout, create_payout, credit_return, fail_payout, move_payout, open_payout,
    reopen_payout, send_payout, update_payout,
};
pub use refunds::{
    abandon_refund, complete_refund, fail_refund, move_refund, open_payment_refund, open_refund, send_refund,
    update_refund,
};
pub use webhooks::{move_endpoint, open_endpoint, publish, update_endpoint};

use cais_domain::charge::{Charge, Credit};
use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::ledger::Transfer;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::payment::Payment;
use cais_domain::release::Release;
use cais_ports::{
    ApiKeyRecord, Callback, ChangeSet, Fingerprint, IdempotencyChange, IdempotencyRef, NewEvent, NewIdempotencyRecord,
    Reservation, ReservationKey, ResourceRenderer as _, ResponseKind, StoredResponse, Write,
};
use jiff::{Timestamp, ToSpan as _};

use super::records::{an_event, expect_ok, fresh, start};
use crate::representation::TextRepresentation;

/// The length of a lease of an idempotency record, in seconds.
pub const LEASE_S: i64 = 30;

/// Returns the change set that stores the account and reserves its e-mail address.
#[must_use]
pub fn open_account(account: &Account) -> ChangeSet {
    ChangeSet {
        reserve: vec![Reservation {
            key: ReservationKey::Email(account.email.clone()),
            account: account.id,
            owner: account.id.to_string(),
        }],
        writes: vec![Write::insert(account.clone())],
        ..ChangeSet::new(account.created_at)
    }
}

/// Returns the change set that stores the API key.
#[must_use]
pub fn add_key(key: &ApiKeyRecord) -> ChangeSet {
    write(Write::insert(key.clone()), key.created_at)
}

/// Returns the change set that stores the callback.
#[must_use]
pub fn receive(callback: &Callback) -> ChangeSet {
    write(Write::insert(callback.clone()), callback.received_at)
}

/// Returns the change set of a single write.
#[must_use]
pub fn write(write: Write, at: Timestamp) -> ChangeSet {
    ChangeSet { writes: vec![write], ..ChangeSet::new(at) }
}

/// Returns the change set of a single transfer.
#[must_use]
pub fn transfer(transfer: Transfer) -> ChangeSet {
    ChangeSet { transfers: vec![transfer], ..ChangeSet::new(start()) }
}

/// Returns the reference to the account's idempotency record of that key.
#[must_use]
pub fn idempotency_ref(account: AccountId, key: &str) -> IdempotencyRef {
    IdempotencyRef { account, key: expect_ok(IdempotencyKey::parse(key)) }
}

/// Returns the idempotency record of the first use of a key, for that resource, without a stored response.
#[must_use]
pub fn new_idempotency_record(name: IdempotencyRef, resource: &str, at: Timestamp) -> NewIdempotencyRecord {
    NewIdempotencyRecord {
        name,
        fingerprint: Fingerprint([1; 32]),
        resource: resource.to_owned(),
        lease_until: at + LEASE_S.seconds(),
        answer: None,
    }
}

/// Returns a stored response of that kind with that body, for a new request id.
#[must_use]
pub fn answer(kind: ResponseKind, body: &[u8]) -> StoredResponse {
    StoredResponse { kind, request: fresh(), body: body.to_vec() }
}

/// Returns the change set that stores the charge with its unique values: commit 1 of a creation without an idempotency
/// key.
#[must_use]
pub fn open_charge(charge: &Charge) -> ChangeSet {
    let reserve = |key| Reservation { key, account: charge.account, owner: charge.id.to_string() };
    let external_id = charge.terms.external_id.clone();
    let external_id = external_id.map(|id| ReservationKey::ChargeExternalId(charge.account, id));
    ChangeSet {
        reserve: external_id.into_iter().chain([ReservationKey::Txid(charge.txid.clone())]).map(reserve).collect(),
        writes: vec![Write::insert(charge.clone())],
        ..ChangeSet::new(charge.created_at)
    }
}

/// Returns commit 1 of a creation: idempotency record, unique values, charge.
#[must_use]
pub fn create_charge(charge: &Charge, name: IdempotencyRef) -> ChangeSet {
    let record = new_idempotency_record(name, &charge.id.to_string(), charge.created_at);
    ChangeSet { idempotency: Some(IdempotencyChange::Take(record)), ..open_charge(charge) }
}

/// Returns commit 2 of a creation: the issued charge and the response. Commit 2 fails unless `fence` is the record's.
#[must_use]
pub fn issue_charge(charge: &Charge, name: IdempotencyRef, fence: i64, at: Timestamp) -> ChangeSet {
    ChangeSet {
        idempotency: Some(IdempotencyChange::Answer {
            name,
            fence,
            answer: answer(ResponseKind::Created, &TextRepresentation.charge(charge)),
        }),
        ..update_charge(charge, at)
    }
}

/// Returns the change set that updates the stored charge, without other effects. `charge` must have the stored version.
#[must_use]
pub fn update_charge(charge: &Charge, at: Timestamp) -> ChangeSet {
    write(Write::update(charge.clone()), at)
}

/// Returns the change set that credits a payment of the charge by the rules of the domain, without a release delay.
/// `charge` must have the stored version.
#[must_use]
pub fn confirm_payment(charge: &Charge, payment: Payment, at: Timestamp) -> ChangeSet {
    credit_payment(charge, payment, 0, at)
}

/// Returns the change set that credits a payment of the charge by the rules of the domain. The part of the charge's
/// account becomes available after `release_delay_s` seconds. `charge` must have the stored version.
#[must_use]
pub fn credit_payment(charge: &Charge, payment: Payment, release_delay_s: u32, at: Timestamp) -> ChangeSet {
    let credit = expect_ok(charge.clone().credit(payment, release_delay_s, at));
    let Credit { charge: paid, payment, release, transfers, event, unexpected } = credit;
    let end_to_end_id = payment.payment.end_to_end_id.clone();
    let now = paid.as_ref().unwrap_or(charge);
    let event = event.map(|kind| charge_event_of(now, kind));
    let extra = unexpected.map(|extra| NewEvent {
        data: TextRepresentation.unexpected_payment(&extra),
        ..charge_event_of(now, EventType::PaymentUnexpected)
    });
    let update = paid.map(Write::update);
    let release = release.map(Write::insert);
    ChangeSet {
        reserve: vec![Reservation {
            key: ReservationKey::EndToEndId(end_to_end_id),
            account: charge.account,
            owner: charge.id.to_string(),
        }],
        writes: update.into_iter().chain([Write::insert(payment)]).chain(release).collect(),
        transfers,
        events: event.into_iter().chain(extra).collect(),
        ..ChangeSet::new(at)
    }
}

/// Returns the change set that makes the release. The change set is empty before the release is due, and after it was
/// made. `release` must have the stored version.
#[must_use]
pub fn make_release(release: &Release, at: Timestamp) -> ChangeSet {
    let made = release.clone().release(at);
    made.map_or_else(
        || ChangeSet::new(at),
        |(released, transfer)| ChangeSet { transfers: vec![transfer], ..write(Write::update(released), at) },
    )
}

/// Returns an event of the charge, also for the endpoint that the charge names.
fn charge_event_of(charge: &Charge, kind: EventType) -> NewEvent {
    let event = event_of(charge.account, kind, &charge.id.to_string(), TextRepresentation.charge(charge));
    NewEvent { postback: charge.terms.postback.clone(), ..event }
}

/// Returns an event with that data.
fn event_of(account: AccountId, kind: EventType, resource: &str, data: Vec<u8>) -> NewEvent {
    NewEvent { data, ..an_event(account, kind, resource) }
}

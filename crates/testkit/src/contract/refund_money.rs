//! The money of refunds: refund, charge and balance change together or not at all.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::AccountId;
use cais_domain::ledger::Bucket;
use cais_domain::refund::{NewRefund, Refund, RefundStatus};
use cais_ports::{CommitError, RecordKey, ReservationKey};

use super::Harness;
use super::harness::{after_s, commit_concurrently, count_accepted, hold, not_covered};
use crate::builders::{a_payment, a_return_id, an_external_id, new_refund, pending_charge, steps};

/// The number of concurrent commits.
const CALLERS: usize = 64;

/// Two refunds together return the whole charge. The second one makes the charge `Refunded`.
pub async fn charge_is_refunded_in_parts(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = paid(h, account).await;
    let (charge, first) = open(h, &charge, Some(400)).await;
    assert_eq!(h.balances(account).await, [540, 0, 0, 400]);
    assert_eq!(refunds(&charge), (400, 0));
    let (charge, second) = open(h, &charge, None).await;
    assert_eq!(h.balances(account).await, [0, 0, 0, 1_000], "a refund of the whole charge also returns the fee");
    assert_eq!(refunds(&charge), (1_000, 0));

    h.commit_ok(steps::send_refund(&first, after_s(3))).await;
    let first = h.read_refund(account, first.id).await;
    let committed = h.commit_ok(steps::complete_refund(&first, &charge, a_return_id(), after_s(4))).await;
    assert_eq!(committed.sequences, [2], "event 1 is the payment of the charge");
    let charge = h.read_charge(&charge).await;
    assert_eq!((refunds(&charge), charge.state.status()), ((600, 400), ChargeStatus::Paid));
    let committed = h.commit_ok(steps::complete_refund(&second, &charge, a_return_id(), after_s(5))).await;
    assert_eq!(committed.sequences, [3, 4]);
    let charge = h.read_charge(&charge).await;
    assert_eq!((refunds(&charge), charge.state.status()), ((0, 1_000), ChargeStatus::Refunded));
    assert_eq!(h.balances(account).await, [0; 4]);
    assert_eq!(h.read_refund(account, second.id).await.state.status(), RefundStatus::Completed);
}

/// The money of a failed or abandoned refund is available again, and the charge can be refunded again.
pub async fn failed_refund_returns_all_money(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = paid(h, account).await;
    let external_id = an_external_id();
    let key = ReservationKey::RefundExternalId(account, external_id.clone());
    let requested = NewRefund { external_id: Some(external_id), ..new_refund(Some(600)) };
    h.commit_ok(steps::open_refund(&charge, &requested, after_s(2))).await;
    assert_eq!(h.store.find_owner(&key).await.unwrap(), Some(requested.id.to_string()));
    let (charge, refund) = (h.read_charge(&charge).await, h.read_refund(account, requested.id).await);
    h.commit_ok(steps::abandon_refund(&refund, &charge, after_s(3))).await;
    let charge = h.read_charge(&charge).await;
    assert_eq!((refunds(&charge), h.balances(account).await), ((0, 0), [940, 0, 0, 0]));
    assert_eq!(h.store.find_owner(&key).await.unwrap(), None);

    let (charge, refund) = open(h, &charge, Some(940)).await;
    let fail = steps::fail_refund(&refund, &charge, after_s(4));
    assert_eq!(h.commit_ok(fail.clone()).await.sequences, [2]);
    assert_eq!(h.commit(fail).await, Err(CommitError::Stale));
    let charge = h.read_charge(&charge).await;
    assert_eq!((refunds(&charge), h.balances(account).await), ((0, 0), [940, 0, 0, 0]));
    assert_eq!(charge.state.status(), ChargeStatus::Paid);
}

/// An overpayment and a second payment are refunded in part. Each payment is read with the part of its refunds that does
/// not count as a refund of the charge.
pub async fn payment_has_its_refunds_beyond_the_charge(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = h.pending_charge(account).await;
    let (over, second) = (a_payment(1_500), a_payment(700));
    h.commit_ok(steps::confirm_payment(&charge, over.clone(), after_s(1))).await;
    let mut charge = h.read_charge(&charge).await;
    h.commit_ok(steps::confirm_payment(&charge, second.clone(), after_s(1))).await;
    h.fund(account, 1_000).await;
    let mut made = Vec::new();
    for (pix, centavos, of_charge, beyond) in [
        (&over.end_to_end_id, 300, 0, 300),
        (&over.end_to_end_id, 400, 200, 500),
        (&over.end_to_end_id, 100, 100, 500),
        (&second.end_to_end_id, 250, 0, 250),
    ] {
        let payment = h.store.find_payment(account, pix).await.unwrap().unwrap();
        let requested = new_refund(Some(centavos));
        h.commit_ok(steps::open_payment_refund(&charge, &payment, &requested, after_s(2))).await;
        let refund = h.read_refund(account, requested.id).await;
        assert_eq!((refund.of_charge.centavos(), &refund.end_to_end_id), (of_charge, pix));
        let payment = h.store.find_payment(account, pix).await.unwrap().unwrap();
        assert_eq!(payment.refunded_beyond.centavos(), beyond);
        let key = RecordKey::Payment { account, end_to_end_id: pix.clone() };
        assert_eq!(h.store.find_record(key).await, Ok(Some(payment.into())));
        charge = h.read_charge(&charge).await;
        made.push(refund);
    }
    assert_eq!(refunds(&charge), (300, 0));
    let beyond = |pix| {
        let store = h.store.clone();
        async move { store.find_payment(account, pix).await.unwrap().unwrap().refunded_beyond.centavos() }
    };
    let [first, split, _, last] = made.as_slice() else { unreachable!("four refunds were made") };
    h.commit_ok(steps::fail_refund(first, &charge, after_s(3))).await;
    let charge = h.read_charge(&charge).await;
    h.commit_ok(steps::complete_refund(split, &charge, a_return_id(), after_s(4))).await;
    let charge = h.read_charge(&charge).await;
    h.commit_ok(steps::abandon_refund(last, &charge, after_s(5))).await;
    assert_eq!((beyond(&over.end_to_end_id).await, beyond(&second.end_to_end_id).await), (200, 0));
    assert_eq!(refunds(&h.read_charge(&charge).await), (100, 200));
}

/// A wrong version of the refund or of the charge makes the whole commit fail.
pub async fn refund_and_its_charge_change_together(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 5_000).await;
    let charge = paid(h, account).await;
    let stale = Charge { version: charge.version - 1, ..charge.clone() };
    let requested = new_refund(Some(100));
    let refused = h.commit(steps::open_refund(&stale, &requested, after_s(2))).await;
    assert_eq!(refused, Err(CommitError::Stale));
    assert_eq!(h.store.find_refund(account, requested.id).await.unwrap(), None);
    assert_eq!(h.balances(account).await, [5_940, 0, 0, 0]);

    let (charge, refund) = open(h, &charge, Some(100)).await;
    let old_charge = Charge { version: charge.version - 1, ..charge.clone() };
    let old_refund = Refund { version: 0, ..refund.clone() };
    for (refund, charge) in [(&refund, &old_charge), (&old_refund, &charge)] {
        let changes = [
            steps::complete_refund(refund, charge, a_return_id(), after_s(3)),
            steps::fail_refund(refund, charge, after_s(3)),
        ];
        for change in changes {
            assert_eq!(h.commit(change).await, Err(CommitError::Stale));
        }
    }
    assert_eq!(h.read_charge(&charge).await, charge);
    assert_eq!(h.read_refund(account, refund.id).await, refund);
    assert_eq!(h.balances(account).await, [5_840, 0, 0, 100]);
    h.commit_ok(steps::complete_refund(&refund, &charge, a_return_id(), after_s(4))).await;
    assert_eq!(h.read_charge(&charge).await.version, charge.version + 1);
    assert_eq!(h.read_refund(account, refund.id).await.version, 2);
}

/// A refund that the available balance does not cover stores no record and no external id, and does not change the charge.
pub async fn uncovered_refund_leaves_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = paid(h, account).await;
    h.commit_ok(steps::transfer(hold(account, 1))).await;
    let external_id = an_external_id();
    let key = ReservationKey::RefundExternalId(account, external_id.clone());
    let requested = NewRefund { external_id: Some(external_id), ..new_refund(Some(940)) };
    let open = steps::open_refund(&charge, &requested, after_s(2));
    assert_eq!(h.commit(open.clone()).await, Err(not_covered(account, Bucket::Available, 939)));
    assert_eq!(h.store.find_refund(account, requested.id).await.unwrap(), None);
    assert_eq!(h.store.find_owner(&key).await.unwrap(), None);
    assert_eq!(h.read_charge(&charge).await, charge);
    assert_eq!(h.balances(account).await, [939, 0, 0, 1]);
    h.fund(account, 1).await;
    h.commit_ok(open.clone()).await;
    let taken = CommitError::Taken { key, by: requested.id.to_string() };
    assert_eq!(h.commit(open).await, Err(taken));
}

/// Concurrent refunds, each of the whole charge: the balance covers all of them, but only one succeeds.
pub async fn racing_refunds_of_a_charge_succeed_once(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 1_000_000).await;
    let charge = paid(h, account).await;
    let requested: Vec<NewRefund> = (0..CALLERS).map(|_| new_refund(None)).collect();
    let changes = requested.iter().map(|requested| steps::open_refund(&charge, requested, after_s(2)));
    let outcomes = commit_concurrently(&h.store, changes.collect()).await;
    assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
    for (requested, outcome) in requested.iter().zip(&outcomes) {
        let found = h.store.find_refund(account, requested.id).await.unwrap();
        assert_eq!(found.is_some(), outcome.is_ok());
    }
    assert_eq!(refunds(&h.read_charge(&charge).await), (1_000, 0));
    assert_eq!(h.balances(account).await, [999_940, 0, 0, 1_000]);
}

/// Half of the concurrent commits complete the refund, and half fail it. Only one outcome is stored.
pub async fn refund_with_racing_outcomes_has_one(h: &mut Harness) {
    let account = h.account().await.id;
    for _ in 0..4 {
        let [before, ..] = h.balances(account).await;
        let charge = paid(h, account).await;
        let (charge, refund) = open(h, &charge, Some(900)).await;
        let outcomes = (0..CALLERS).map(|caller| match caller % 2 {
            0 => steps::complete_refund(&refund, &charge, a_return_id(), after_s(3)),
            _ => steps::fail_refund(&refund, &charge, after_s(3)),
        });
        let outcomes = commit_concurrently(&h.store, outcomes.collect()).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        let (refund, charge) = (h.read_refund(account, refund.id).await, h.read_charge(&charge).await);
        let (left, totals) =
            if refund.state.status() == RefundStatus::Completed { (40, (0, 900)) } else { (940, (0, 0)) };
        assert_eq!(refunds(&charge), totals);
        assert_eq!(h.balances(account).await, [before + left, 0, 0, 0]);
    }
    assert_eq!(h.store.last_sequence(account).await.unwrap(), 8, "four payments and four outcomes");
}

/// Stores a charge of R$ 10.00 and its payment, of which R$ 9.40 are credited to the account.
async fn paid(h: &Harness, account: AccountId) -> Charge {
    h.paid_charge(pending_charge(account), 0).await
}

/// Opens a refund. Returns the charge and the refund as read back.
async fn open(h: &Harness, charge: &Charge, centavos: Option<i64>) -> (Charge, Refund) {
    let requested = new_refund(centavos);
    // A refund can be larger than the balance: the fee, for example, was never credited. So the account is funded first.
    let [available, ..] = h.balances(charge.account).await;
    let wanted = centavos.unwrap_or_else(|| charge.refundable().unwrap().centavos());
    if wanted > available {
        h.fund(charge.account, wanted - available).await;
    }
    h.commit_ok(steps::open_refund(charge, &requested, after_s(2))).await;
    (h.read_charge(charge).await, h.read_refund(charge.account, requested.id).await)
}

/// Returns the refunded centavos of the charge: in flight, and done.
const fn refunds(charge: &Charge) -> (i64, i64) {
    (charge.refunds.in_flight.centavos(), charge.refunds.done.centavos())
}

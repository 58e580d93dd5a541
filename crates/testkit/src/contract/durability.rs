//! What was acknowledged is there after the store was closed and opened.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_ports::{ApiKeyRecord, Notice, ReservationKey};

use super::Harness;
use super::harness::after_s;
use super::probe::Probe;
use crate::builders::{a_key, a_notice, a_payment, new_refund, pending_charge, steps};

/// Records, claims, unique values, money and the count of events; and it goes on from there.
pub async fn a_reopened_store_has_everything(h: &mut Harness) {
    let account = h.account().await;
    let key = a_key(account.id);
    h.good(steps::add_key(&key)).await;
    let notice = a_notice();
    h.good(steps::receive(&notice)).await;
    let charge = h.pending_charge(account.id).await;
    let payment = a_payment(1_000);
    h.good(steps::confirm_payment(&charge, payment.clone(), after_s(1))).await;
    let paid = h.paid_charge(pending_charge(account.id), 60).await;
    let payout = h.held_payout(account.id).await;
    h.good(steps::send_payout(&payout, after_s(2))).await;
    let asked = new_refund(Some(100));
    h.good(steps::open_refund(&paid, &asked, after_s(2))).await;
    let (payout, refund) = (h.read_payout(&payout).await, h.read_refund(account.id, asked.id).await);
    let releases = h.store.list_due_releases(after_s(1_000), 50).await.unwrap();
    let (probe, change) = Probe::prepare(h, account.id).await;
    h.good(change).await;
    let entries = h.audit().await;

    for _ in 0..2 {
        h.reopen().await;
        h.store.ready().await.unwrap();
        probe.assert_present(h).await;
        assert_eq!(h.audit().await, entries);
        assert_eq!(h.balances(account.id).await, [917, 940, 0, 1_150]);
    }
    assert_eq!(h.read_payout(&payout).await, payout);
    assert_eq!(h.store.list_due_payouts(after_s(1_000), 50).await.unwrap(), [payout]);
    assert_eq!(h.read_refund(account.id, asked.id).await, refund);
    assert_eq!(h.store.list_due_releases(after_s(1_000), 50).await.unwrap(), releases);
    assert_eq!(releases.len(), 1);
    assert_eq!(h.store.find_account(account.id).await.unwrap(), Some(account.clone()));
    let found = h.store.find_key(&key.prefix).await.unwrap();
    assert_eq!(found, Some((ApiKeyRecord { version: 1, ..key }, account.clone())));
    let due = h.store.list_due_notices(after_s(1), 50).await.unwrap();
    assert_eq!(due, [Notice { version: 1, ..notice }]);
    let paid = h.store.find_charge(account.id, charge.id).await.unwrap().unwrap();
    assert_eq!((paid.state.status(), paid.version), (ChargeStatus::Paid, 2));
    let credited = ReservationKey::EndToEndId(payment.end_to_end_id.clone());
    assert!(h.store.find_owner(&credited).await.unwrap().is_some());

    let again = steps::confirm_payment(&paid, payment, after_s(2));
    assert!(h.commit(again).await.is_err(), "credited before it was closed");
    let next = Charge { version: 1, ..h.pending_charge(account.id).await };
    let confirmed = h.good(steps::confirm_payment(&next, a_payment(1_000), after_s(3))).await;
    assert_eq!(confirmed.sequences, [4]);
}

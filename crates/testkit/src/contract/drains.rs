//! Drains of acquirers, and the counts of their open orders.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::infraction::InfractionStatus;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::RefundStatus;
use cais_ports::{AcquirerDrain, CommitError, OpenOrders, PollPosition, UpstreamList, Write};

use super::Harness;
use super::harness::after_s;
use crate::builders::{
    a_payout, a_refund, an_infraction, infraction_in_status, main_acquirer, payout_in_status, pending_charge,
    refund_in_status, start, steps,
};

/// Ended drains are listed too, and a stale change has no effect.
pub async fn drains_are_listed_by_name(h: &mut Harness) {
    let drain =
        |name: &str, since, version| AcquirerDrain { acquirer: AcquirerName::parse(name).unwrap(), since, version };
    assert_eq!(h.store.list_drains().await.unwrap(), []);
    for name in ["other", "main"] {
        h.commit_ok(steps::write(Write::insert(drain(name, Some(after_s(7)), 0)), start())).await;
    }
    h.commit_ok(steps::write(Write::update(drain("main", None, 1)), start())).await;
    let stale = h.commit(steps::write(Write::update(drain("main", Some(start()), 1)), start())).await;
    assert_eq!(stale.map(drop), Err(CommitError::Stale));
    let expected = [drain("main", None, 2), drain("other", Some(after_s(7)), 1)];
    assert_eq!(h.store.list_drains().await.unwrap(), expected);
}

/// Only open orders count, and only those of the acquirer.
pub async fn open_orders_are_counted_by_acquirer(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = h.charge(pending_charge(account)).await;
    h.charge(pending_charge(account)).await;
    for status in PayoutStatus::ALL {
        h.payout(payout_in_status(a_payout(account), status)).await;
    }
    for status in RefundStatus::ALL {
        h.refund(refund_in_status(a_refund(&charge), status)).await;
    }
    for status in InfractionStatus::ALL {
        let infraction = infraction_in_status(an_infraction(&charge, 100), status);
        h.commit_ok(steps::write(Write::insert(infraction), start())).await;
    }
    let found = h.store.count_open_orders(&main_acquirer()).await.unwrap();
    assert_eq!(found, OpenOrders { charges: 2, payouts: 1, refunds: 1, infractions: 2 });
    let other = AcquirerName::parse("other").unwrap();
    assert_eq!(h.store.count_open_orders(&other).await.unwrap(), OpenOrders::default());
    assert_eq!(h.store.list_open_orders().await.unwrap(), [], "no list of an acquirer was read");
    for (acquirer, list) in [
        (other.clone(), UpstreamList::Received),
        (main_acquirer(), UpstreamList::Received),
        (main_acquirer(), UpstreamList::Sent),
    ] {
        let position = PollPosition { acquirer, list, seen_until: start(), version: 0 };
        h.commit_ok(steps::write(Write::insert(position), start())).await;
    }
    let expected = [(main_acquirer(), found), (other, OpenOrders::default())];
    assert_eq!(h.store.list_open_orders().await.unwrap(), expected);
}

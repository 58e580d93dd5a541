//! Tests that rows that the store cannot have written are reported to their readers and do not affect other rows.

use cais_domain::event::EventType;
use cais_domain::infraction::Infraction;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::RefundStatus;
use cais_persistence::Persistence;
use cais_ports::{
    CallbackQueries as _, ChargeQueries as _, DeliveryQueries as _, IdempotencyQueries as _, InfractionQueries as _,
    PayoutQueries as _, QueryError, RefundQueries as _, ReleaseQueries as _, Store as _, Write,
};
use cais_testkit::builders::{
    a_callback, a_charge, a_payout, a_refund, a_release, an_account, an_endpoint, an_event, an_infraction,
    main_acquirer, payout_in_status, pending_charge, refund_in_status, start, steps,
};
use cais_testkit::postgres::Cluster;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::postgres::{database, open};

/// Returns an instant after every lease and every expiry of these tests.
fn late() -> Timestamp {
    start() + SignedDuration::from_hours(1_000)
}

#[test]
fn invalid_row_is_reported_to_its_readers_only() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&url), an_account());
        let charges = [a_charge(account.id), a_charge(account.id)];
        for charge in &charges {
            store.commit(steps::open_charge(charge)).await.unwrap();
        }
        let [bad, good] = charges;
        let spoil = format!("UPDATE charges SET acquirer = 'NOT A NAME' WHERE id = '{}'", bad.id);
        Cluster::shared().unwrap().sql(&url, &spoil).unwrap();
        let mut tasks = JoinSet::new();
        for turn in 0..50 {
            let (store, bad, good) = (store.clone(), bad.id, good.id);
            tasks.spawn(async move {
                let found = store.find_charge(account.id, if turn % 2 == 0 { bad } else { good }).await;
                if turn % 2 == 0 { matches!(found, Err(QueryError::Corrupt(_))) } else { matches!(found, Ok(Some(_))) }
            });
        }
        while let Some(as_expected) = tasks.join_next().await {
            assert!(as_expected.unwrap());
        }
    });
}

#[test]
fn invalid_row_is_skipped_in_work_lists() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&url), an_account());
        for key in ["first-key", "second-key"] {
            store.commit(steps::open_charge(&pending_charge(account.id))).await.unwrap();
            store.commit(steps::create_charge(&a_charge(account.id), steps::idempotency_ref(account.id, key))).await.unwrap();
            store.commit(steps::receive(&a_callback())).await.unwrap();
            let payout = payout_in_status(a_payout(account.id), PayoutStatus::Processing);
            let refund = refund_in_status(a_refund(&a_charge(account.id)), RefundStatus::Processing);
            for write in [
                Write::insert(payout),
                Write::insert(refund),
                Write::insert(a_release(account.id, 1, start())),
                Write::insert(Infraction { due_at: Some(start()), ..an_infraction(&a_charge(account.id), 100) }),
            ] {
                store.commit(steps::write(write, start())).await.unwrap();
            }
        }
        assert_eq!(work(&store, 50).await, [2; 9]);
        for spoil in [
            "UPDATE charges SET acquirer = 'NOT A NAME' WHERE id = (SELECT min(id) FROM charges WHERE status = 'pending')",
            "UPDATE idempotency_records SET created_at = 9223372036854775807 WHERE key = 'first-key'",
            "UPDATE callbacks SET acquirer = 'NOT A NAME' WHERE id = (SELECT min(id) FROM callbacks)",
            "UPDATE payouts SET pix_key = 'NOT A KEY' WHERE id = (SELECT min(id) FROM payouts)",
            "UPDATE refunds SET end_to_end_id = 'NOT A PIX' WHERE id = (SELECT min(id) FROM refunds)",
            "UPDATE infractions SET charge_id = 'NOT AN ID' WHERE id = (SELECT min(id) FROM infractions)",
            "UPDATE releases SET charge_id = 'NOT AN ID' WHERE end_to_end_id = (SELECT min(end_to_end_id) FROM releases)",
        ] {
            Cluster::shared().unwrap().sql(&url, spoil).unwrap();
        }
        assert_eq!(work(&store, 50).await, [1; 9]);
        assert_eq!(work(&store, 1).await, [1; 9], "an unreadable row displaces no other row");
    });
}

#[test]
fn invalid_endpoint_delays_no_event_of_the_others() {
    let url = database();
    Runtime::new().unwrap().block_on(async {
        let (store, account) = (open(&url), an_account().id);
        let [bad, good] = [an_endpoint(account, 0), an_endpoint(account, 1)];
        for endpoint in [&bad, &good] {
            store.commit(steps::open_endpoint(endpoint)).await.unwrap();
        }
        let spoil = format!("UPDATE webhook_endpoints SET events = 'charge.forgotten' WHERE id = '{}'", bad.id);
        Cluster::shared().unwrap().sql(&url, &spoil).unwrap();
        let event = an_event(account, EventType::ChargePaid, "chg_1");
        store.commit(steps::publish(vec![event.clone()])).await.unwrap();
        let deliveries = store.list_deliveries_of_event(account, event.id).await.unwrap();
        assert!(matches!(deliveries.as_slice(), [delivery] if delivery.endpoint == good.id), "{deliveries:?}");
    });
}

/// Counts the charges, idempotency records, callbacks, payouts, refunds, releases and, in three lists, infractions that wait for a worker.
async fn work(store: &Persistence, limit: u32) -> [usize; 9] {
    [
        store.list_overdue_charges(late(), limit).await.unwrap().len(),
        store.list_due_idempotency_records(late(), limit).await.unwrap().len(),
        store.list_due_callbacks(late(), limit).await.unwrap().len(),
        store.list_due_payouts(late(), limit).await.unwrap().len(),
        store.list_due_refunds(late(), limit).await.unwrap().len(),
        store.list_due_releases(late(), limit).await.unwrap().len(),
        store.list_due_infractions(late(), limit).await.unwrap().len(),
        store.list_undefended(start(), late(), limit).await.unwrap().len(),
        store.list_open_infractions(&main_acquirer(), None, limit).await.unwrap().len(),
    ]
}

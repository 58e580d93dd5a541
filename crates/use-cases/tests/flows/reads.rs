//! Reads and lists: refreshed from the acquirer at intervals, and never older than the stored state.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_ports::PageRequest;
use cais_testkit::builders::fresh;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::SyncGate;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::{FetchError, fetch};
use cais_use_cases::charges::list::{ListError, list};

use crate::bed::TestBed;

#[tokio::test]
async fn acquirer_is_read_once_per_second_and_charge() {
    let bed = TestBed::new().await;
    let (one, two) = (bed.pending().await, bed.pending().await);
    let gate = SyncGate::new();
    let read = async |id| fetch(&bed.ports, &gate, bed.account.id, &ChargeName::Id(id)).await.unwrap();
    for _ in 0..5 {
        read(one.id).await;
    }
    assert_eq!(bed.psp.finds(OrderKind::Charge), 1);
    read(two.id).await;
    assert_eq!(bed.psp.finds(OrderKind::Charge), 2, "each charge has its own second");

    bed.psp.pay(&one.txid, 1_000);
    bed.clock.advance(Duration::from_millis(999));
    assert_eq!(read(one.id).await.state.status(), ChargeStatus::Pending);
    bed.clock.advance(Duration::from_millis(1));
    assert_eq!(read(one.id).await.state.status(), ChargeStatus::Paid);
    assert_eq!(bed.psp.finds(OrderKind::Charge), 3);
    bed.clock.advance(Duration::from_secs(5));
    read(one.id).await;
    assert_eq!(bed.psp.finds(OrderKind::Charge), 3, "a paid charge needs no read from the acquirer");
}

#[tokio::test]
async fn silent_acquirer_leaves_stored_state_in_response() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    for mood in [OrderReply::Down, OrderReply::Refuses, OrderReply::Silent] {
        bed.psp.set_all(mood);
        assert_eq!(bed.read(charge.id).await.as_ref(), Ok(&charge), "{mood:?}");
    }
}

#[tokio::test]
async fn read_with_failed_store_is_unavailable() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.store.set_unreachable(true);
    let read = bed.read(charge.id).await;
    assert!(matches!(read, Err(FetchError::Unavailable { retry_after_s: 1.. })), "{read:?}");
}

#[tokio::test]
async fn accounts_read_only_their_own_charges() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let foreign = fetch(&bed.ports, &SyncGate::new(), fresh(), &ChargeName::Id(charge.id)).await;
    assert_eq!(foreign, Err(FetchError::NotFound));
    let page = PageRequest { limit: 1, starting_after: Some(charge.id) };
    assert_eq!(list(&bed.ports, fresh(), page).await, Err(ListError::UnknownCursor));
}

#[tokio::test]
async fn pages_stay_contiguous_while_charges_are_added() {
    let bed = TestBed::new().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(bed.pending().await.id);
    }
    let mut seen = Vec::new();
    let mut starting_after = None;
    loop {
        let page = list(&bed.ports, bed.account.id, PageRequest { limit: 2, starting_after }).await.unwrap();
        assert!(page.rows.len() <= 2);
        seen.extend(page.rows.iter().map(|charge| charge.id));
        bed.pending().await;
        starting_after = seen.last().copied();
        if !page.has_more {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made, "newest first, none twice, none of those that came later");
}

#[tokio::test]
async fn abandoned_charge_is_not_a_cursor() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Refuses);
    bed.create("a", crate::bed::ten_reais()).await.unwrap_err();
    let page = PageRequest { limit: 1, starting_after: Some(bed.only_charge().id) };
    assert_eq!(list(&bed.ports, bed.account.id, page).await, Err(ListError::UnknownCursor));
}

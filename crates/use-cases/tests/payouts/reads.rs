//! Reads of payouts. A payout whose state may have changed is refreshed from the acquirer, at most once per second.

use std::time::Duration;

use cais_domain::payout::PayoutStatus;
use cais_ports::PageRequest;
use cais_testkit::builders::fresh;
use cais_testkit::psp::{LookupReply, OrderKind, OrderReply};
use cais_use_cases::SyncGate;
use cais_use_cases::payouts::PayoutName;
use cais_use_cases::payouts::fetch::{FetchError, fetch};
use cais_use_cases::payouts::list::{ListError, list};

use crate::bed::{LONG, TestBed, id_of, named, reais, ten_reais};

#[tokio::test]
async fn acquirer_is_read_once_per_second_and_payout() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    let gate = SyncGate::new();
    let finds = bed.psp.finds(OrderKind::Payout);
    for _ in 0..5 {
        let read = fetch(&bed.ports, &gate, bed.account.id, &PayoutName::Id(payout.id)).await.unwrap();
        assert_eq!(read.state.status(), PayoutStatus::Processing);
    }
    assert_eq!(bed.psp.finds(OrderKind::Payout) - finds, 1);
    bed.psp.complete();
    bed.clock.advance(Duration::from_secs(1));
    let read = fetch(&bed.ports, &gate, bed.account.id, &PayoutName::Id(payout.id)).await.unwrap();
    assert_eq!((read.state.status(), bed.psp.finds(OrderKind::Payout) - finds), (PayoutStatus::Completed, 2));
    assert_eq!(read, bed.only_payout(), "as it is stored");
}

#[tokio::test]
async fn ended_payout_is_refreshed_only_while_it_may_come_back() {
    let bed = TestBed::new().await;
    let payout = bed.completed().await;
    let finds = bed.psp.finds(OrderKind::Payout);
    bed.read(payout.id).await.unwrap();
    assert_eq!(bed.psp.finds(OrderKind::Payout) - finds, 1);
    bed.clock.advance(Duration::from_hours(25));
    bed.read(payout.id).await.unwrap();
    assert_eq!(bed.psp.finds(OrderKind::Payout) - finds, 1);

    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Refuses);
    let failed = id_of(&bed.create("a", ten_reais()).await.unwrap());
    let finds = bed.psp.finds(OrderKind::Payout);
    bed.read(failed).await.unwrap();
    assert_eq!(bed.psp.finds(OrderKind::Payout), finds);
}

#[tokio::test]
async fn silent_acquirer_leaves_stored_state_in_response() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    for lookup_reply in [LookupReply::Silent, LookupReply::NotFound] {
        bed.psp.set_lookup_reply(lookup_reply);
        assert_eq!(bed.read(payout.id).await.as_ref(), Ok(&payout), "{lookup_reply:?}");
    }
    bed.store.set_unreachable(true);
    let read = bed.read(payout.id).await;
    assert!(matches!(read, Err(FetchError::Unavailable { retry_after_s: 1.. })), "{read:?}");
}

#[tokio::test]
async fn accounts_read_only_their_own_payouts() {
    let bed = TestBed::new().await;
    let payout = bed.processing().await;
    let foreign = fetch(&bed.ports, &SyncGate::new(), fresh(), &PayoutName::Id(payout.id)).await;
    assert_eq!(foreign, Err(FetchError::NotFound));
    let page = PageRequest { limit: 1, starting_after: Some(payout.id) };
    assert_eq!(list(&bed.ports, fresh(), page).await, Err(ListError::UnknownCursor));
    assert_eq!(bed.read(fresh()).await, Err(FetchError::NotFound));
}

#[tokio::test]
async fn pages_stay_contiguous_while_payouts_are_added() {
    let bed = TestBed::new().await;
    bed.fund(1_000_000).await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(id_of(&bed.create(&number.to_string(), reais(1)).await.unwrap()));
    }
    let (mut seen, mut starting_after) = (Vec::new(), None);
    for number in 5..10 {
        let page = list(&bed.ports, bed.account.id, PageRequest { limit: 2, starting_after }).await.unwrap();
        seen.extend(page.rows.iter().map(|payout| payout.id));
        bed.create(&number.to_string(), reais(1)).await.unwrap();
        starting_after = seen.last().copied();
        if !page.has_more {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made, "newest first, none twice, none of those that came later");
}

#[tokio::test]
async fn unfinished_payout_is_in_no_list_and_no_cursor() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let given_up = bed.only_payout().id;
    bed.store.crash_at(2, cais_testkit::Crash::Before);
    bed.create("b", ten_reais()).await.unwrap_err();
    bed.clock.advance(LONG);
    assert_eq!((bed.store.payouts().len(), bed.visible().await), (2, 0));
    let page = PageRequest { limit: 1, starting_after: Some(given_up) };
    assert_eq!(list(&bed.ports, bed.account.id, page).await, Err(ListError::UnknownCursor));
}

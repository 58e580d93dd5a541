//! The result of a creation for each reply of the acquirer.

use cais_domain::event::EventType;
use cais_domain::ids::PayoutId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount};
use cais_domain::payout::PayoutStatus;
use cais_ports::{ResponseKind, UpstreamPayout, UpstreamProgress};
use cais_testkit::builders::{a_recipient, main_acquirer};
use cais_testkit::psp::{LookupReply, Moment, OrderKind, OrderReply};
use cais_use_cases::payouts::create::CreatePayoutError;
use cais_use_cases::payouts::fetch::FetchError;

use crate::bed::{FEE, FUNDS, TestBed, id_of, named, status_of, ten_reais, upstream};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const GONE: (i64, i64) = (FUNDS - 1_000 - FEE, 0);

/// Returns the account's entries of the payout: bucket, kind, centavos.
fn entries(bed: &TestBed, id: PayoutId) -> Vec<(Bucket, EntryKind, i64)> {
    let of_payout = bed.store.entries().into_iter().filter(|entry| entry.resource == Some(id.to_string()));
    let own = of_payout.filter_map(|entry| match entry.account {
        LedgerAccount::Merchant(account, bucket) if account == bed.account.id => {
            Some((bucket, entry.kind, entry.amount.centavos()))
        }
        LedgerAccount::Merchant(..) | LedgerAccount::System(..) => None,
    });
    own.collect()
}

#[tokio::test]
async fn accepted_payout_is_processing_with_its_recipient() {
    let bed = TestBed::new().await;
    let before = bed.store.commits();
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();

    assert_eq!(
        (answer.kind, answer.replay_of, status_of(&answer).as_str()),
        (ResponseKind::Created, None, "processing")
    );
    assert_eq!(bed.store.commits() - before, 2, "hold and outcome");
    let payout = bed.only_payout();
    assert_eq!(payout.id, id_of(&answer));
    assert_eq!(payout.recipient, a_recipient(), "the look-up returns the recipient");
    assert!(payout.state.end_to_end_id().is_some() && payout.due_at.is_some());
    let orders = bed.psp.payout_orders();
    assert_eq!((orders.len(), &orders[0].instruction_id), (1, &payout.instruction_id()));
    assert_eq!((bed.money(), bed.fees(), bed.event_types()), (HELD, 0, vec![]));
    assert_eq!(
        entries(&bed, payout.id),
        [
            (Bucket::Available, EntryKind::Payout, -1_000),
            (Bucket::InTransit, EntryKind::Payout, 1_000),
            (Bucket::Available, EntryKind::Fee, -FEE),
            (Bucket::InTransit, EntryKind::Fee, FEE),
        ]
    );
    bed.check().await;
}

#[tokio::test]
async fn first_read_may_show_outcome_and_its_failure_is_harmless() {
    let bed = TestBed::new().await;
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || psp.complete());
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!((bed.money(), bed.left(&main_acquirer()), bed.fees()), (GONE, 1_000, FEE));

    for lookup_reply in [LookupReply::Silent, LookupReply::NotFound] {
        let bed = TestBed::new().await;
        bed.psp.set_lookup_reply(lookup_reply);
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str()),
            (ResponseKind::Created, "processing"),
            "{lookup_reply:?}"
        );
        assert_eq!((bed.money(), bed.psp.payout_orders().len()), (HELD, 1));
    }
}

#[tokio::test]
async fn payout_sent_at_once_is_completed() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Completes);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    let payout = bed.only_payout();
    assert_eq!((payout.recipient.clone(), payout.due_at), (a_recipient(), None));
    assert_eq!((bed.money(), bed.fees(), bed.left(&main_acquirer())), (GONE, FEE, 1_000));
    assert_eq!(bed.event_types(), [EventType::PayoutCompleted]);
    assert_eq!(
        entries(&bed, payout.id)[4..],
        [(Bucket::InTransit, EntryKind::Payout, -1_000), (Bucket::InTransit, EntryKind::Fee, -FEE)]
    );
    bed.check().await;
}

#[tokio::test]
async fn payout_refused_or_failed_at_once_releases_its_hold() {
    for (sending, reason) in [
        (OrderReply::Refuses, "the key has no owner"),
        (OrderReply::Fails, "the recipient's institution did not accept the Pix"),
    ] {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{sending:?}");
        let payout = bed.only_payout();
        assert_eq!(payout.state.failure(), Some(reason));
        assert_eq!((bed.money(), bed.fees(), bed.left(&main_acquirer())), ((FUNDS, 0), 0, 0));
        assert_eq!(bed.event_types(), [EventType::PayoutFailed]);
        assert_eq!(
            bed.read_external("order-1").await.unwrap().id,
            payout.id,
            "the payout stays visible and keeps its external id"
        );
        assert_eq!(
            entries(&bed, payout.id)[4..],
            [
                (Bucket::InTransit, EntryKind::PayoutFailed, -1_000),
                (Bucket::Available, EntryKind::PayoutFailed, 1_000),
                (Bucket::InTransit, EntryKind::Fee, -FEE),
                (Bucket::Available, EntryKind::Fee, FEE),
            ]
        );
        assert_eq!((bed.poll().await, bed.psp.payout_orders().len()), (0, 1), "no further read or request");
        bed.check().await;
    }
}

#[tokio::test]
async fn payout_not_accepted_leaves_no_trace() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    let failed = bed.create("a", named("order-1", ten_reais())).await;
    assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
    let payout = bed.only_payout();
    assert_eq!(payout.state.status(), PayoutStatus::Abandoned);
    assert_eq!(bed.read(payout.id).await, Err(FetchError::NotFound));
    assert_eq!(bed.read_external("order-1").await, Err(FetchError::NotFound));
    assert_eq!(bed.second.payout_orders().len(), 0, "a payout never moves on to another acquirer");
    bed.untouched().await;
}

#[tokio::test]
async fn payout_with_lost_reply_is_resolved_by_lookup() {
    for (sending, lookup_reply, finds, known) in [
        (OrderReply::LosesReplies, LookupReply::Accurate, 1, true),
        (OrderReply::LosesReplies, LookupReply::Silent, 1, false),
        (OrderReply::LosesReplies, LookupReply::NotFound, 1, false),
        (OrderReply::Silent, LookupReply::Accurate, 1, false),
    ] {
        let bed = TestBed::new().await;
        bed.psp.set(sending);
        bed.psp.set_lookup_reply(lookup_reply);
        let answer = bed.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str()),
            (ResponseKind::Created, "processing"),
            "{sending:?} {lookup_reply:?}"
        );
        assert_eq!((bed.psp.finds(OrderKind::Payout), bed.money()), (finds, HELD));
        assert_eq!(bed.only_payout().state.end_to_end_id().is_some(), known, "{sending:?} {lookup_reply:?}");
        assert_eq!(bed.second.payout_orders().len(), 0);
        bed.check().await;
    }
}

#[tokio::test]
async fn record_that_differs_from_order_is_ignored() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::WrongAmount);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    for _ in 0..5 {
        bed.clock.advance(crate::bed::LONG);
        assert_eq!(bed.poll().await, 0);
        bed.read(id_of(&answer)).await.unwrap();
    }
    assert_eq!(
        (bed.money(), bed.status()),
        (HELD, PayoutStatus::Processing),
        "no part of the contradicting record is applied"
    );
    assert_eq!(bed.psp.payout_orders().len(), 1, "the payout exists, so it is not sent again");
    bed.check().await;
}

#[tokio::test]
async fn arrival_without_end_to_end_id_is_not_final() {
    let bed = TestBed::new().await;
    bed.processing().await;
    let payout = bed.only_payout();
    bed.psp.change_only_payout(|payout| {
        payout.end_to_end_id = None;
        payout.progress = UpstreamProgress::Done { at: None };
    });
    bed.clock.advance(std::time::Duration::from_secs(2));
    assert_eq!(bed.poll().await, 1, "the acquirer showed the end-to-end id before");
    assert_eq!(bed.only_payout().state.end_to_end_id(), payout.state.end_to_end_id());

    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Silent);
    let id = id_of(&bed.create("a", ten_reais()).await.unwrap());
    let payout = upstream(&bed.payout(id), UpstreamProgress::Done { at: None });
    bed.psp.store_payout(UpstreamPayout { end_to_end_id: None, ..payout });
    bed.clock.advance(std::time::Duration::from_secs(2));
    assert_eq!((bed.poll().await, bed.status()), (0, PayoutStatus::Processing));
    assert_eq!(bed.only_payout().recipient, a_recipient());
}

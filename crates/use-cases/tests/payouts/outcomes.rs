//! The result of a creation for each reply of the acquirer.

use cais_domain::event::EventType;
use cais_domain::ids::PayoutId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount};
use cais_domain::payout::PayoutStatus;
use cais_ports::{ResponseKind, UpstreamPayout, UpstreamProgress};
use cais_testkit::builders::{a_recipient, main_acquirer};
use cais_testkit::psp::{Looking, Moment, OrderKind, Sending};
use cais_use_cases::payouts::create::CreatePayoutError;
use cais_use_cases::payouts::fetch::FetchError;

use crate::world::{FEE, FUNDS, World, id_of, named, status_of, ten_reais, upstream};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const GONE: (i64, i64) = (FUNDS - 1_000 - FEE, 0);

/// Returns the account's entries of the payout: bucket, kind, centavos.
fn entries(world: &World, id: PayoutId) -> Vec<(Bucket, EntryKind, i64)> {
    let of_payout = world.store.entries().into_iter().filter(|entry| entry.resource == Some(id.to_string()));
    let own = of_payout.filter_map(|entry| match entry.account {
        LedgerAccount::Merchant(account, bucket) if account == world.account.id => {
            Some((bucket, entry.kind, entry.amount.centavos()))
        }
        LedgerAccount::Merchant(..) | LedgerAccount::System(..) => None,
    });
    own.collect()
}

#[tokio::test]
async fn accepted_payout_is_processing_with_its_recipient() {
    let world = World::new().await;
    let before = world.store.commits();
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();

    assert_eq!(
        (answer.kind, answer.replay_of, status_of(&answer).as_str()),
        (ResponseKind::Created, None, "processing")
    );
    assert_eq!(world.store.commits() - before, 2, "hold and outcome");
    let payout = world.only_payout();
    assert_eq!(payout.id, id_of(&answer));
    assert_eq!(payout.recipient, a_recipient(), "the look-up returns the recipient");
    assert!(payout.state.end_to_end_id().is_some() && payout.due_at.is_some());
    let orders = world.psp.payout_orders();
    assert_eq!((orders.len(), &orders[0].instruction_id), (1, &payout.instruction_id()));
    assert_eq!((world.money(), world.fees(), world.event_types()), (HELD, 0, vec![]));
    assert_eq!(
        entries(&world, payout.id),
        [
            (Bucket::Available, EntryKind::Payout, -1_000),
            (Bucket::InTransit, EntryKind::Payout, 1_000),
            (Bucket::Available, EntryKind::Fee, -FEE),
            (Bucket::InTransit, EntryKind::Fee, FEE),
        ]
    );
    world.check().await;
}

#[tokio::test]
async fn first_read_may_show_outcome_and_its_failure_is_harmless() {
    let world = World::new().await;
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || psp.complete());
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!((world.money(), world.left(&main_acquirer()), world.fees()), (GONE, 1_000, FEE));

    for looking in [Looking::Silent, Looking::Forgets] {
        let world = World::new().await;
        world.psp.set_looking(looking);
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"), "{looking:?}");
        assert_eq!((world.money(), world.psp.payout_orders().len()), (HELD, 1));
    }
}

#[tokio::test]
async fn payout_sent_at_once_is_completed() {
    let world = World::new().await;
    world.psp.set(Sending::Completes);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    let payout = world.only_payout();
    assert_eq!((payout.recipient.clone(), payout.due_at), (a_recipient(), None));
    assert_eq!((world.money(), world.fees(), world.left(&main_acquirer())), (GONE, FEE, 1_000));
    assert_eq!(world.event_types(), [EventType::PayoutCompleted]);
    assert_eq!(
        entries(&world, payout.id)[4..],
        [(Bucket::InTransit, EntryKind::Payout, -1_000), (Bucket::InTransit, EntryKind::Fee, -FEE)]
    );
    world.check().await;
}

#[tokio::test]
async fn payout_refused_or_failed_at_once_releases_its_hold() {
    for (sending, reason) in [
        (Sending::Refuses, "the key has no owner"),
        (Sending::Fails, "the recipient's institution did not accept the Pix"),
    ] {
        let world = World::new().await;
        world.psp.set(sending);
        let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{sending:?}");
        let payout = world.only_payout();
        assert_eq!(payout.state.failure(), Some(reason));
        assert_eq!((world.money(), world.fees(), world.left(&main_acquirer())), ((FUNDS, 0), 0, 0));
        assert_eq!(world.event_types(), [EventType::PayoutFailed]);
        assert_eq!(
            world.read_external("order-1").await.unwrap().id,
            payout.id,
            "the payout stays visible and keeps its external id"
        );
        assert_eq!(
            entries(&world, payout.id)[4..],
            [
                (Bucket::InTransit, EntryKind::PayoutFailed, -1_000),
                (Bucket::Available, EntryKind::PayoutFailed, 1_000),
                (Bucket::InTransit, EntryKind::Fee, -FEE),
                (Bucket::Available, EntryKind::Fee, FEE),
            ]
        );
        assert_eq!((world.poll().await, world.psp.payout_orders().len()), (0, 1), "no further read or request");
        world.check().await;
    }
}

#[tokio::test]
async fn payout_not_accepted_leaves_no_trace() {
    let world = World::new().await;
    world.psp.set(Sending::Down);
    let failed = world.create("a", named("order-1", ten_reais())).await;
    assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
    let payout = world.only_payout();
    assert_eq!(payout.state.status(), PayoutStatus::Abandoned);
    assert_eq!(world.read(payout.id).await, Err(FetchError::NotFound));
    assert_eq!(world.read_external("order-1").await, Err(FetchError::NotFound));
    assert_eq!(world.second.payout_orders().len(), 0, "a payout never moves on to another acquirer");
    world.untouched().await;
}

#[tokio::test]
async fn payout_with_lost_reply_is_resolved_by_lookup() {
    for (sending, looking, finds, known) in [
        (Sending::LosesReplies, Looking::Tells, 1, true),
        (Sending::LosesReplies, Looking::Silent, 1, false),
        (Sending::LosesReplies, Looking::Forgets, 1, false),
        (Sending::Silent, Looking::Tells, 1, false),
    ] {
        let world = World::new().await;
        world.psp.set(sending);
        world.psp.set_looking(looking);
        let answer = world.create("a", ten_reais()).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str()),
            (ResponseKind::Created, "processing"),
            "{sending:?} {looking:?}"
        );
        assert_eq!((world.psp.finds(OrderKind::Payout), world.money()), (finds, HELD));
        assert_eq!(world.only_payout().state.end_to_end_id().is_some(), known, "{sending:?} {looking:?}");
        assert_eq!(world.second.payout_orders().len(), 0);
        world.check().await;
    }
}

#[tokio::test]
async fn record_that_differs_from_order_is_ignored() {
    let world = World::new().await;
    world.psp.set(Sending::Garbles);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    for _ in 0..5 {
        world.clock.advance(crate::world::LONG);
        assert_eq!(world.poll().await, 0);
        world.read(id_of(&answer)).await.unwrap();
    }
    assert_eq!(
        (world.money(), world.status()),
        (HELD, PayoutStatus::Processing),
        "no part of the contradicting record is applied"
    );
    assert_eq!(world.psp.payout_orders().len(), 1, "the payout exists, so it is not sent again");
    world.check().await;
}

#[tokio::test]
async fn arrival_without_end_to_end_id_is_not_final() {
    let world = World::new().await;
    world.processing().await;
    let payout = world.only_payout();
    world.psp.change_only_payout(|payout| {
        payout.end_to_end_id = None;
        payout.progress = UpstreamProgress::Done { at: None };
    });
    world.clock.advance(std::time::Duration::from_secs(2));
    assert_eq!(world.poll().await, 1, "the acquirer showed the end-to-end id before");
    assert_eq!(world.only_payout().state.end_to_end_id(), payout.state.end_to_end_id());

    let world = World::new().await;
    world.psp.set(Sending::Silent);
    let id = id_of(&world.create("a", ten_reais()).await.unwrap());
    let payout = upstream(&world.payout(id), UpstreamProgress::Done { at: None });
    world.psp.hold_payout(UpstreamPayout { end_to_end_id: None, ..payout });
    world.clock.advance(std::time::Duration::from_secs(2));
    assert_eq!((world.poll().await, world.status()), (0, PayoutStatus::Processing));
    assert_eq!(world.only_payout().recipient, a_recipient());
}

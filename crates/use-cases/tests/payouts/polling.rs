//! Open payouts are polled at growing intervals. A payout is sent again only if the acquirer does not have it, and ends
//! once.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::UpstreamProgress;
use cais_testkit::Crash;
use cais_testkit::builders::main_acquirer;
use cais_testkit::hooked::once;
use cais_testkit::psp::{List, Looking, Moment, OrderKind, Sending};
use cais_use_cases::payouts::create::NewPayout;

use crate::world::{FEE, FUNDS, LONG, World, id_of, now, reais, status_of, ten_reais};

const HELD: (i64, i64) = (FUNDS - 1_000 - FEE, 1_000 + FEE);
const MOMENT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn poll_applies_payout_outcome() {
    let world = World::new().await;
    world.completed().await;
    assert_eq!((world.status(), world.event_types()), (PayoutStatus::Completed, vec![EventType::PayoutCompleted]));
    assert_eq!((world.money().1, world.fees(), world.left(&main_acquirer())), (0, FEE, 1_000));
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 0, "an ended payout is not read again");
    world.check().await;

    let world = World::new().await;
    world.processing().await;
    world.psp.fail();
    world.clock.advance(MOMENT);
    assert_eq!(world.poll().await, 1);
    assert_eq!(
        world.only_payout().state.failure(),
        Some("closed account"),
        "characters that stores refuse are removed"
    );
    assert_eq!((world.money(), world.event_types()), ((FUNDS, 0), vec![EventType::PayoutFailed]));
    world.check().await;
}

#[tokio::test]
async fn poll_pauses_grow_without_outcome() {
    let world = World::new().await;
    world.processing().await;
    let mut pauses = Vec::new();
    for _ in 0..11 {
        let due = world.only_payout().due_at.unwrap();
        pauses.push(due.duration_since(cais_ports::Clock::now(&*world.clock)).as_secs());
        let finds = world.psp.finds(OrderKind::Payout);
        assert_eq!((world.poll().await, world.psp.finds(OrderKind::Payout)), (0, finds), "the look-up is not due yet");
        world.clock.set(due);
        assert_eq!((world.poll().await, world.psp.finds(OrderKind::Payout)), (0, finds + 1));
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert_eq!((world.psp.payout_orders().len(), world.money()), (1, HELD), "a timeout is never a failure");
}

#[tokio::test]
async fn silent_acquirer_leaves_payout_unchanged() {
    let world = World::new().await;
    let payout = world.processing().await;
    world.psp.set_looking(Looking::Silent);
    for _ in 0..20 {
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 0);
    }
    assert_eq!((world.status(), world.money(), world.psp.payout_orders().len()), (PayoutStatus::Processing, HELD, 1));
    world.psp.set_looking(Looking::Tells);
    world.psp.complete();
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.payout(payout.id).state.status()), (1, PayoutStatus::Completed));
    world.check().await;
}

#[tokio::test]
async fn missing_payout_is_sent_again_by_same_name_after_a_minute() {
    let world = World::new().await;
    world.psp.set(Sending::Silent);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(status_of(&answer), "processing");
    world.psp.set(Sending::Takes);
    for _ in 0..5 {
        world.clock.advance(Duration::from_secs(11));
        assert_eq!(
            (world.poll().await, world.psp.payout_orders().len()),
            (0, 1),
            "the first request may be on its way"
        );
    }
    world.clock.advance(Duration::from_secs(30));
    assert_eq!((world.poll().await, world.psp.payout_orders().len()), (0, 2));
    let orders = world.psp.payout_orders();
    assert_eq!(orders[0], orders[1]);
    world.psp.complete();
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.psp.sent(), world.left(&main_acquirer())), (1, 1, 1_000));
    world.check().await;
}

#[tokio::test]
async fn late_request_after_resend_is_same_payout() {
    let world = World::new().await;
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Forgets);
    world.create("a", ten_reais()).await.unwrap();
    for _ in 0..10 {
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 0);
    }
    assert_eq!((world.psp.payout_orders().len(), world.psp.sent()), (11, 1), "an acquirer executes a name once");
    world.psp.set_looking(Looking::Tells);
    world.psp.complete();
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.left(&main_acquirer()), world.fees()), (1, 1_000, FEE));
    world.check().await;
}

#[tokio::test]
async fn refusal_of_missing_payout_ends_it() {
    let world = World::new().await;
    world.psp.set(Sending::Silent);
    world.create("a", ten_reais()).await.unwrap();
    world.psp.set(Sending::Refuses);
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (1, PayoutStatus::Failed));
    assert_eq!((world.money(), world.event_types()), ((FUNDS, 0), vec![EventType::PayoutFailed]));
    assert_eq!(world.only_payout().state.failure(), Some("the key has no owner"));
    world.check().await;
}

#[tokio::test]
async fn refusal_of_existing_payout_is_ignored() {
    let world = World::new().await;
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Forgets);
    world.create("a", ten_reais()).await.unwrap();
    world.psp.set(Sending::Refuses);
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || psp.set_looking(Looking::Tells));
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status(), world.money()), (0, PayoutStatus::Processing, HELD));

    // If the look-up after a refusal cannot be read, the refusal does not end the payout either.
    let world = World::new().await;
    world.psp.set(Sending::Silent);
    world.create("a", ten_reais()).await.unwrap();
    world.psp.set(Sending::Refuses);
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || psp.set_looking(Looking::Silent));
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status(), world.money()), (0, PayoutStatus::Processing, HELD));
    world.check().await;
}

#[tokio::test]
async fn payout_that_cannot_be_resent_stays_processing() {
    for sending in [Sending::Down, Sending::Silent] {
        let world = World::new().await;
        world.psp.set(Sending::Silent);
        world.create("a", ten_reais()).await.unwrap();
        world.psp.set(sending);
        for _ in 0..4 {
            world.clock.advance(LONG);
            assert_eq!(world.poll().await, 0);
        }
        assert_eq!((world.status(), world.money()), (PayoutStatus::Processing, HELD), "{sending:?}");
        assert_eq!(world.psp.payout_orders().len(), 5);
        world.check().await;
    }
}

#[tokio::test]
async fn open_payout_stays_with_its_acquirer() {
    let world = World::new().await;
    world.psp.set(Sending::Silent);
    let payout = world.create("a", ten_reais()).await.unwrap();
    world.psp.set_resting(true);
    for _ in 0..4 {
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 0);
    }
    // A new payout goes to the second acquirer, and the open one does not.
    world.second.set(Sending::Completes);
    world.create("b", reais(1)).await.unwrap();
    assert_eq!(world.second.payout_orders().len(), 1);
    world.psp.set_resting(false);
    world.psp.set(Sending::Completes);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    let open = world.read(id_of(&payout)).await.unwrap();
    assert_eq!((open.state.acquirer(), open.state.status()), (&world.psp.name, PayoutStatus::Completed));
    assert_eq!((world.psp.sent(), world.second.sent()), (1, 1));
    world.check().await;
}

#[tokio::test]
async fn payout_outcome_is_never_reversed() {
    // The payout arrived. Afterwards the acquirer reports a failure.
    let world = World::new().await;
    let payout = world.completed().await;
    let after = world.money();
    world.psp.fail();
    world.read(payout.id).await.unwrap();
    world.call_back(&payout).await;
    world.process().await;
    assert_eq!((world.status(), world.money(), world.event_types().len()), (PayoutStatus::Completed, after, 1));
    world.check().await;

    // The payout failed. Afterwards the acquirer reports an arrival.
    let world = World::new().await;
    let payout = world.processing().await;
    world.psp.fail();
    world.clock.advance(MOMENT);
    world.poll().await;
    world.psp.complete();
    world.read(payout.id).await.unwrap();
    world.call_back(&payout).await;
    world.process().await;
    assert_eq!((world.status(), world.money(), world.event_types().len()), (PayoutStatus::Failed, (FUNDS, 0), 1));
    world.check().await;
}

#[tokio::test]
async fn two_nodes_resend_and_end_payout_once() {
    let world = World::new().await;
    world.processing().await;
    world.psp.complete();
    world.clock.advance(MOMENT);
    // Both nodes read the acquirer's record before one of them writes.
    let other = world.clone();
    world.psp.when(Moment::Read, move || {
        now(other.poll());
    });
    world.poll().await;
    assert_eq!(
        (world.event_types(), world.left(&main_acquirer()), world.fees()),
        (vec![EventType::PayoutCompleted], 1_000, FEE)
    );
    world.check().await;

    let world = World::new().await;
    world.psp.set(Sending::Silent);
    let id = id_of(&world.create("a", ten_reais()).await.unwrap());
    world.psp.set(Sending::Takes);
    world.clock.advance(LONG);
    let other = world.clone();
    world.psp.when(Moment::Read, move || {
        now(other.poll());
    });
    world.poll().await;
    assert_eq!(world.psp.payout_orders().len(), 2, "one of the two nodes has sent the payout again");
    assert_eq!(world.payout(id).state.status(), PayoutStatus::Processing);
    world.check().await;
}

#[tokio::test]
async fn node_with_outdated_decision_sends_nothing() {
    let world = World::new().await;
    world.psp.set(Sending::Silent);
    world.create("a", ten_reais()).await.unwrap();
    world.psp.set(Sending::Takes);
    world.clock.advance(LONG);
    // The store answers the commit of the decision after one minute.
    let clock = world.clock.clone();
    let slow = world.after_commits(once(move || {
        clock.advance(Duration::from_mins(1));
    }));
    assert_eq!(slow.poll().await, 0);
    assert_eq!(world.psp.payout_orders().len(), 1);
    world.clock.advance(LONG);
    world.poll().await;
    assert_eq!((world.psp.payout_orders().len(), world.psp.sent()), (2, 1), "another one does it later");
}

#[tokio::test]
async fn payout_that_cannot_be_followed_is_postponed() {
    let world = World::new().await;
    world.processing().await;
    world.psp.complete();
    world.clock.advance(MOMENT);
    world.store.crash_at(1, Crash::Before);
    assert_eq!((world.poll().await, world.status()), (0, PayoutStatus::Processing));
    let (finds, due) = (world.psp.finds(OrderKind::Payout), world.only_payout().due_at.unwrap());
    assert!(due > cais_ports::Clock::now(&*world.clock), "the next look-up waits");
    assert_eq!((world.poll().await, world.psp.finds(OrderKind::Payout)), (0, finds));
    world.clock.set(due);
    assert_eq!((world.poll().await, world.status()), (1, PayoutStatus::Completed));
    world.check().await;
}

#[tokio::test]
async fn open_payouts_are_read_from_list_and_then_singly() {
    let world = World::new().await;
    for number in 0..10 {
        let key = number.to_string();
        let answer = world.create(&key, NewPayout { amount: Money::from_centavos(10), ..ten_reais() }).await;
        assert_eq!(status_of(&answer.unwrap()), "processing");
    }
    world.psp.settle_open(&UpstreamProgress::Done { at: None });
    world.clock.advance(MOMENT);
    let (finds, lists) = (world.psp.finds(OrderKind::Payout), world.psp.lists(List::Sent));
    assert_eq!(world.poll().await, 10);
    // Each page has one row, so the worker stops after three pages.
    assert_eq!((world.psp.finds(OrderKind::Payout) - finds, world.psp.lists(List::Sent) - lists), (7, 3));
    assert!(world.store.payouts().iter().all(|payout| payout.state.status() == PayoutStatus::Completed));
    world.check().await;
}

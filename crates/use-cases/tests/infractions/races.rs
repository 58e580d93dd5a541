//! Other nodes, payouts, refunds and payers act while a dispute is opened or resolved.

use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_ports::{CallbackState, ResponseKind, UpstreamInfractionStatus};
use cais_testkit::hooked::once;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use crate::world::World;

#[tokio::test]
async fn concurrent_polls_open_and_resolve_infraction_once() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let ids = [world.psp.dispute(&pix, 700), world.psp.dispute(&pix, 700)];
    let contended = world.contended();
    join_all((0..8).map(|_| contended.poll())).await;
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Open; 2], [0, 0, 1_000]));
    world.check().await;
    for id in &ids {
        world.psp.settle(id, UpstreamInfractionStatus::Accepted);
    }
    join_all((0..8).map(|_| contended.poll())).await;
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Lost; 2], [0, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn concurrent_callbacks_and_polls_apply_report_once() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    let id = world.psp.dispute(&pix, 1_000);
    let contended = world.contended();
    let (calls, polls) =
        (join_all((0..8).map(|_| contended.call_back(&id))), join_all((0..8).map(|_| contended.poll())));
    futures_util::future::join(calls, polls).await;
    world.look_again().await;
    assert!(world.store.callbacks().iter().all(|callback| callback.state == CallbackState::Done));
    assert_eq!((world.all().len(), world.money()), (1, [0, 0, 1_000]));
    world.check().await;
}

#[tokio::test]
async fn concurrent_payouts_never_spend_an_opening_block() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.paid(2_200).await;
    world.psp.dispute(&pix, 1_000);
    let contended = world.contended();
    let pay = |number: i64| {
        let world = contended.clone();
        async move { Some(world.pay_out(&number.to_string(), 100).await.kind) }.boxed()
    };
    let poll = || {
        let world = contended.clone();
        async move {
            world.poll().await;
            None
        }
        .boxed()
    };
    let all: Vec<BoxFuture<'_, Option<ResponseKind>>> =
        (0..40).map(pay).chain([poll()]).chain((40..64).map(pay)).collect();
    let answers = join_all(all).await;
    let made = answers.iter().filter(|kind| **kind == Some(ResponseKind::Created)).count();
    let refused = answers.iter().filter(|kind| **kind == Some(ResponseKind::InsufficientBalance)).count();
    assert_eq!(made + refused, 64, "{answers:?}");
    let [available, _, blocked] = world.money();
    assert_eq!(available + blocked + i64::try_from(made).unwrap() * 100, 3_200);
    assert!(blocked > 0 && (available == 0 || blocked == 1_000), "{available} {blocked}");
    world.check().await;
    world.paid(1_000).await;
    assert_eq!(world.money()[2], 1_000, "the next credit fills the block");
    world.check().await;
}

#[tokio::test]
async fn refunds_during_opening_never_exceed_the_payment() {
    for _ in 0..8 {
        let world = World::new().await;
        let (charge, pix) = world.paid(1_000).await;
        world.paid(5_000).await;
        let id = world.psp.dispute(&pix, 1_000);
        let contended = world.contended();
        let refund = |number: usize| {
            let (world, charge) = (contended.clone(), charge.id);
            async move { usize::from(world.refund(&number.to_string(), charge, 300).await.is_ok()) }.boxed()
        };
        let poll = async { contended.poll().await }.boxed();
        let all: Vec<BoxFuture<'_, usize>> = (0..3).map(refund).chain([poll]).chain((3..6).map(refund)).collect();
        join_all(all).await;
        let refunded = world.charge(charge.id).refunds.in_flight.centavos();
        assert_eq!(world.money()[2], 1_000 - refunded);
        world.check().await;
        world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        world.poll().await;
        let refunds = world.charge(charge.id).refunds;
        assert_eq!(refunds.done.centavos() + refunds.in_flight.centavos(), 1_000);
        world.check().await;
    }
}

#[tokio::test]
async fn block_changed_between_read_and_commit_is_read_again() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.spend_all_but(0).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.poll().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    let charge = world.pending(400).await;
    world.psp.pay(&charge.txid, 400);
    let payer = world.clone();
    let beside = world.before_commits(once(move || drop(payer.read(&charge).now_or_never().unwrap())));
    assert_eq!(beside.poll().await, 1, "the second node reads again and decides again");
    let InfractionState::Lost { returned, .. } = world.last().state else { panic!("{:?}", world.last().state) };
    assert_eq!((returned.centavos(), world.money()), (400, [0, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn payments_during_resolution_leave_no_block() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.spend_all_but(0).await;
    let id = world.psp.dispute(&pix, 1_000);
    world.poll().await;
    let mut charges = Vec::new();
    for _ in 0..12 {
        let charge = world.pending(200).await;
        world.psp.pay(&charge.txid, 200);
        charges.push(charge);
    }
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    let contended = world.contended();
    let payers = join_all(charges.iter().map(|charge| contended.read(charge)));
    futures_util::future::join(payers, contended.poll()).await;
    world.poll().await;
    assert_eq!(world.statuses(), [InfractionStatus::Lost]);
    let [available, pending, blocked] = world.money();
    assert_eq!((pending, blocked), (0, 0));
    assert!((1_400..=2_400).contains(&available), "{available}");
    world.check().await;
}

#[tokio::test]
async fn concurrent_defenses_leave_one() {
    let world = World::new().await;
    world.disputed().await;
    let contended = world.contended();
    let calls = (0..8).map(|number| {
        let world = contended.clone();
        async move { world.defend(if number % 2 == 0 { "Entregue." } else { "Outra." }).await }
    });
    let answers = join_all(calls).await;
    assert!(answers.iter().any(Result::is_ok));
    assert_eq!((world.psp.defenses(), world.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    world.check().await;
}

//! Other nodes, payouts, refunds and payers act while a dispute is opened or resolved.

use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_ports::{CallbackState, ResponseKind, UpstreamInfractionStatus};
use cais_testkit::hooked::once;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use crate::bed::TestBed;

#[tokio::test]
async fn concurrent_polls_open_and_resolve_infraction_once() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let ids = [bed.psp.dispute(&pix, 700), bed.psp.dispute(&pix, 700)];
    let contended = bed.contended();
    join_all((0..8).map(|_| contended.poll())).await;
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Open; 2], [0, 0, 1_000]));
    bed.check().await;
    for id in &ids {
        bed.psp.settle(id, UpstreamInfractionStatus::Accepted);
    }
    join_all((0..8).map(|_| contended.poll())).await;
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Lost; 2], [0, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_callbacks_and_polls_apply_report_once() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    let contended = bed.contended();
    let (calls, polls) =
        (join_all((0..8).map(|_| contended.receive_callback(&id))), join_all((0..8).map(|_| contended.poll())));
    futures_util::future::join(calls, polls).await;
    bed.process_later().await;
    assert!(bed.store.callbacks().iter().all(|callback| callback.state == CallbackState::Done));
    assert_eq!((bed.all().len(), bed.money()), (1, [0, 0, 1_000]));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_payouts_never_spend_an_opening_block() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.paid(2_200).await;
    bed.psp.dispute(&pix, 1_000);
    let contended = bed.contended();
    let pay = |number: i64| {
        let bed = contended.clone();
        async move { Some(bed.pay_out(&number.to_string(), 100).await.kind) }.boxed()
    };
    let poll = || {
        let bed = contended.clone();
        async move {
            bed.poll().await;
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
    let [available, _, blocked] = bed.money();
    assert_eq!(available + blocked + i64::try_from(made).unwrap() * 100, 3_200);
    assert!(blocked > 0 && (available == 0 || blocked == 1_000), "{available} {blocked}");
    bed.check().await;
    bed.paid(1_000).await;
    assert_eq!(bed.money()[2], 1_000, "the next credit fills the block");
    bed.check().await;
}

#[tokio::test]
async fn refunds_during_opening_never_exceed_the_payment() {
    for _ in 0..8 {
        let bed = TestBed::new().await;
        let (charge, pix) = bed.paid(1_000).await;
        bed.paid(5_000).await;
        let id = bed.psp.dispute(&pix, 1_000);
        let contended = bed.contended();
        let refund = |number: usize| {
            let (bed, charge) = (contended.clone(), charge.id);
            async move { usize::from(bed.refund(&number.to_string(), charge, 300).await.is_ok()) }.boxed()
        };
        let poll = async { contended.poll().await }.boxed();
        let all: Vec<BoxFuture<'_, usize>> = (0..3).map(refund).chain([poll]).chain((3..6).map(refund)).collect();
        join_all(all).await;
        let refunded = bed.charge(charge.id).refunds.in_flight.centavos();
        assert_eq!(bed.money()[2], 1_000 - refunded);
        bed.check().await;
        bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
        bed.poll().await;
        let refunds = bed.charge(charge.id).refunds;
        assert_eq!(refunds.done.centavos() + refunds.in_flight.centavos(), 1_000);
        bed.check().await;
    }
}

#[tokio::test]
async fn block_changed_between_read_and_commit_is_read_again() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.set_available(0).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    let charge = bed.pending(400).await;
    bed.psp.pay(&charge.txid, 400);
    let payer = bed.clone();
    let beside = bed.before_commits(once(move || drop(payer.read(&charge).now_or_never().unwrap())));
    assert_eq!(beside.poll().await, 1, "the second node reads again and decides again");
    let InfractionState::Lost { returned, .. } = bed.last().state else { panic!("{:?}", bed.last().state) };
    assert_eq!((returned.centavos(), bed.money()), (400, [0, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn payments_during_resolution_leave_no_block() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.set_available(0).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    let mut charges = Vec::new();
    for _ in 0..12 {
        let charge = bed.pending(200).await;
        bed.psp.pay(&charge.txid, 200);
        charges.push(charge);
    }
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    let contended = bed.contended();
    let payers = join_all(charges.iter().map(|charge| contended.read(charge)));
    futures_util::future::join(payers, contended.poll()).await;
    bed.poll().await;
    assert_eq!(bed.statuses(), [InfractionStatus::Lost]);
    let [available, pending, blocked] = bed.money();
    assert_eq!((pending, blocked), (0, 0));
    assert!((1_400..=2_400).contains(&available), "{available}");
    bed.check().await;
}

#[tokio::test]
async fn concurrent_defenses_leave_one() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let contended = bed.contended();
    let calls = (0..8).map(|number| {
        let bed = contended.clone();
        async move { bed.defend(if number % 2 == 0 { "Entregue." } else { "Outra." }).await }
    });
    let answers = join_all(calls).await;
    assert!(answers.iter().any(Result::is_ok));
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    bed.check().await;
}

//! Refunds at the same time as other refunds, payments, infractions and callbacks.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::RefundStatus;
use cais_ports::{ResponseKind, Store as _, UpstreamProgress};
use cais_testkit::builders::steps;
use cais_testkit::psp::{Moment, OrderReply};
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};
use futures_util::future::FutureExt as _;
use proptest::prelude::*;

use crate::bed::{TestBed, all, part, status_of};

#[tokio::test]
async fn concurrent_refunds_never_exceed_the_charge() {
    for (centavos, fit) in [(1_000, 1), (400, 2), (300, 3), (100, 10), (10, 64)] {
        let bed = TestBed::new().await.contended();
        let charge = bed.paid().await;
        bed.adjust_available(10_000).await;
        bed.psp.set(OrderReply::Completes);
        let calls = (0..64).map(|number| {
            let (bed, charge) = (bed.clone(), charge.clone());
            tokio::spawn(async move { bed.refund(&number.to_string(), &charge, part(centavos)).await })
        });
        let answers = futures_util::future::join_all(calls).await;
        let mut made = 0;
        for answer in answers {
            match answer.unwrap() {
                Ok(answer) => {
                    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
                    made += 1;
                }
                Err(CreateRefundError::Refused(
                    RefundRefusal::ExceedsAmount { .. } | RefundRefusal::InvalidState(_),
                )) => {}
                Err(error) => unreachable!("{error:?}"),
            }
        }
        assert_eq!((made, bed.psp.returned()), (fit, centavos * fit), "of {centavos} centavos each");
        assert_eq!((bed.available(), bed.in_transit()), (11_000 - centavos * fit, 0));
        let refunded = bed.charge(charge.id).state.status() == ChargeStatus::Refunded;
        assert_eq!(refunded, centavos * fit == 1_000);
        bed.check().await;
    }
}

#[tokio::test]
async fn concurrent_refunds_with_balance_for_one_make_one() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    bed.set_available(100).await;
    let keys: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let answers = futures_util::future::join_all(keys.iter().map(|key| bed.refund(key, &charge, part(100)))).await;
    let kinds: Vec<ResponseKind> = answers.iter().map(|answer| answer.as_ref().unwrap().kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == ResponseKind::Created).count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == ResponseKind::InsufficientBalance).count(), 63, "{kinds:?}");
    assert_eq!((bed.available(), bed.in_transit(), bed.psp.refund_orders().len()), (0, 100, 1));
    bed.check().await;
}

#[tokio::test]
async fn second_payment_during_refund_is_credited() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let (other, paid) = (bed.clone(), charge.clone());
    bed.psp.set(OrderReply::Completes);
    bed.psp.when(Moment::Ordered, move || {
        other.psp.pay(&paid.txid, 700);
        let looked = cais_use_cases::reconcile::run_once(&other.ports).now_or_never();
        assert_eq!(looked.unwrap().unwrap().done, 2, "the payment, and the refund itself");
    });
    let answer = bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!(status_of(&answer), "completed");
    assert_eq!((bed.available(), bed.psp.returned()), (700, 1_000));
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    bed.check().await;
}

#[tokio::test]
async fn infraction_during_refund_stops_only_the_next_refund() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let (other, id) = (bed.clone(), charge.id);
    bed.psp.set(OrderReply::Completes);
    bed.psp.when(Moment::Ordered, move || {
        let disputed = Charge { open_infractions: 1, ..other.charge(id) };
        let opened = other.store.commit(steps::update_charge(&disputed, disputed.created_at)).now_or_never();
        assert!(opened.unwrap().is_ok());
    });
    assert_eq!(status_of(&bed.refund("a", &charge, part(300)).await.unwrap()), "completed");
    assert_eq!(bed.charge(charge.id).open_infractions, 1, "no change is lost");
    assert_eq!(
        bed.refund("b", &charge, part(300)).await,
        Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen))
    );
    bed.check().await;
}

#[tokio::test]
async fn charge_refresh_before_reply_applies_outcome_first() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    // The acquirer shows the return, but its reply is lost, a failure or a refusal.
    for (key, sending) in [("a", OrderReply::Silent), ("b", OrderReply::Down), ("c", OrderReply::Refuses)] {
        let (other, paid) = (bed.clone(), charge.clone());
        bed.psp.set(sending);
        bed.psp.when(Moment::Ordered, move || {
            let order = other.psp.refund_orders().last().unwrap().clone();
            other.psp.change_payment(&order.end_to_end_id, |payment| {
                payment.returns.push(cais_ports::UpstreamReturn {
                    name: order.id.suffix(),
                    return_id: None,
                    nature: cais_ports::ReturnNature::Ordinary,
                    amount: order.amount,
                    progress: UpstreamProgress::Done { at: None },
                });
            });
            let looked = cais_use_cases::reconcile::run_once(&other.ports).now_or_never();
            assert_eq!(looked.unwrap().unwrap().done, 1);
            assert!(other.charge(paid.id).refunds.done.is_positive());
        });
        let answer = bed.refund(key, &charge, part(100)).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"), "{sending:?}");
        bed.check().await;
    }
    assert_eq!((bed.available(), bed.in_transit()), (700, 0));
    let completed = bed.event_types().into_iter().filter(|kind| *kind == EventType::RefundCompleted).count();
    assert_eq!(completed, 3, "each event once");
}

#[tokio::test]
async fn concurrent_readers_and_pollers_complete_refund_once() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    bed.refund("a", &charge, all()).await.unwrap();
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    bed.clock.advance(crate::bed::LONG);
    let workers = (0..32).map(|number| {
        let bed = bed.clone();
        tokio::spawn(async move {
            if number % 2 == 0 {
                cais_use_cases::refunds::poll::run_once(&bed.ports).await.unwrap();
            } else {
                cais_use_cases::reconcile::run_once(&bed.ports).await.unwrap();
            }
        })
    });
    for worker in futures_util::future::join_all(workers).await {
        worker.unwrap();
    }
    assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Completed, 0, 0));
    let events = [EventType::ChargePaid, EventType::RefundCompleted, EventType::ChargeRefunded];
    assert_eq!(bed.event_types(), events);
    bed.check().await;
}

#[tokio::test]
async fn concurrent_repeats_of_abandoned_refund_make_it_once() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Down);
    bed.refund("a", &charge, all()).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    let calls = (0..16).map(|_| {
        let (bed, charge) = (bed.clone(), charge.clone());
        tokio::spawn(async move { bed.refund("a", &charge, all()).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        match answer.unwrap() {
            Ok(answer) => assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed")),
            Err(error) => assert!(matches!(error, CreateRefundError::KeyInProgress { .. }), "{error:?}"),
        }
    }
    assert_eq!((bed.status(), bed.psp.returned(), bed.available()), (RefundStatus::Completed, 1_000, 0));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_payments_and_refunds_of_one_charge_add_up() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Completes);
    for centavos in [300, 500] {
        bed.psp.pay(&charge.txid, centavos);
    }
    let refunds = (0..10).map(|number| {
        let (bed, charge) = (bed.clone(), charge.clone());
        tokio::spawn(async move { bed.refund(&number.to_string(), &charge, part(100)).await.unwrap().kind })
    });
    let readers = (0..4).map(|_| {
        let bed = bed.clone();
        tokio::spawn(async move {
            drop(cais_use_cases::reconcile::run_once(&bed.ports).await);
            ResponseKind::Created
        })
    });
    for done in futures_util::future::join_all(refunds.chain(readers)).await {
        assert_eq!(done.unwrap(), ResponseKind::Created);
    }
    cais_use_cases::reconcile::run_once(&bed.ports).await.unwrap();
    assert_eq!((bed.available(), bed.psp.returned(), bed.in_transit()), (800, 1_000, 0));
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    bed.check().await;
}

#[derive(Debug, Clone)]
enum Action {
    Refund(i64, OrderReply),
    Settle(bool),
    Poll,
    Lose(u64, bool),
    Resume,
}

fn action() -> impl Strategy<Value = Action> {
    let returning = prop_oneof![
        Just(OrderReply::Accepts),
        Just(OrderReply::Completes),
        Just(OrderReply::Fails),
        Just(OrderReply::Down),
        Just(OrderReply::Refuses),
        Just(OrderReply::Silent),
        Just(OrderReply::LosesReplies),
    ];
    prop_oneof![
        4 => (1_i64..700, returning).prop_map(|(centavos, returning)| Action::Refund(centavos, returning)),
        2 => any::<bool>().prop_map(Action::Settle),
        2 => Just(Action::Poll),
        1 => (1_u64..4, any::<bool>()).prop_map(|(nth, after)| Action::Lose(nth, after)),
        1 => Just(Action::Resume),
    ]
}

async fn act(bed: &TestBed, charge: &Charge, number: usize, action: Action) {
    match action {
        Action::Refund(centavos, returning) => {
            bed.psp.set(returning);
            let _ = bed.refund(&number.to_string(), charge, part(centavos)).await;
        }
        Action::Settle(true) => bed.psp.settle_open(&UpstreamProgress::Done { at: None }),
        Action::Settle(false) => bed.psp.settle_open(&UpstreamProgress::Failed { reason: None }),
        Action::Poll => {
            bed.clock.advance(crate::bed::LONG);
            bed.poll().await;
        }
        Action::Lose(nth, after) => {
            let crash = if after { cais_testkit::Crash::After } else { cais_testkit::Crash::Before };
            bed.store.crash_at(nth, crash);
        }
        Action::Resume => {
            bed.clock.advance(crate::bed::PAST_LEASE);
            bed.resume().await;
        }
    }
}

proptest! {
    /// Refunds parts in any order, with any outcome and any interruption. Never more than the payment is returned. At
    /// the end the balance is lower by exactly the returned amount.
    #[test]
    fn partial_refunds_never_exceed_what_was_paid(actions in prop::collection::vec(action(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let bed = TestBed::new().await;
            let charge = bed.paid().await;
            for (number, action) in actions.into_iter().enumerate() {
                act(&bed, &charge, number, action).await;
                prop_assert!(bed.psp.returned() <= 1_000);
                bed.check().await;
            }
            // All faults end. Interruptions that are already planned may still occur in these passes, so several passes
            // follow.
            bed.psp.set(OrderReply::Accepts);
            for _ in 0..8 {
                bed.psp.settle_open(&UpstreamProgress::Done { at: None });
                act(&bed, &charge, 0, Action::Resume).await;
                act(&bed, &charge, 0, Action::Poll).await;
            }
            bed.psp.settle_open(&UpstreamProgress::Done { at: None });
            for _ in 0..8 {
                act(&bed, &charge, 0, Action::Poll).await;
            }
            bed.check().await;
            prop_assert_eq!(bed.in_transit(), 0, "no money is in transit");
            prop_assert_eq!(bed.available(), 1_000 - bed.psp.returned());
            prop_assert_eq!(bed.charge(charge.id).refunds.done, Money::from_centavos(bed.psp.returned()));
            Ok(())
        })?;
    }
}

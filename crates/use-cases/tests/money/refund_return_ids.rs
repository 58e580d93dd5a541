//! The return id of a refund: it belongs to one refund, and is never credited as the return of a payout.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::{Refund, RefundStatus};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Clock as _, ReturnedPart, UpstreamProgress};
use cais_testkit::builders::{an_operator, main_acquirer};
use cais_testkit::logs::CapturedLogs;
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::callbacks::receive;
use cais_use_cases::payouts::credit_return::{CreditReturnError, SeenReturn, credit_return};
use cais_use_cases::reconcile::{self, DifferenceKind};

use crate::reconcile_sent::{DONE, only, paid_out, upstream};
use crate::world::{LONG, World, all, part};

/// Returns a world with a completed payout and a completed refund. The acquirer shows the refund as a return without a
/// charge.
async fn refunded() -> (World, Refund, ReturnId) {
    let world = paid_out(PayoutStatus::Completed).await;
    world.psp.hold_payout(upstream(only(&world).instruction_id(), 1_000, DONE));
    let charge = world.paid().await;
    world.psp.set(Sending::Completes);
    world.refund("a", &charge, part(400)).await.unwrap();
    let refund = world.only_refund();
    let return_id = refund.state.return_id().unwrap().clone();
    let at = world.clock.now();
    world.psp.show_alone(vec![ReturnedPart { return_id: return_id.clone(), amount: refund.amount, at }]);
    world.clock.advance(LONG);
    (world, refund, return_id)
}

#[tokio::test]
async fn refund_in_list_of_payout_returns_is_not_reported() {
    let (world, refund, _) = refunded().await;
    let (from, until) = (refund.created_at, world.clock.now());
    let report = reconcile::run(&world.ports, from, until, true, &|_| {}).await.unwrap();
    let unknown = report.differences.iter().find(|found| found.kind == DifferenceKind::PayoutReturnUnknown);
    assert_eq!((unknown, report.unread), (None, vec![]));
}

#[tokio::test]
async fn refund_is_not_credited_as_return_of_a_payout() {
    let (world, refund, return_id) = refunded().await;
    let (payout, available) = (only(&world), world.available());
    let amount = Money::from_centavos(400);
    let note = Text::parse("in the list", 100, LineBreaks::Refused).unwrap();
    let seen = SeenReturn { payout: payout.id, return_id: return_id.clone(), amount, note };
    let refused = credit_return(&world.ports, &an_operator(), &seen).await;
    assert_eq!(refused.unwrap_err(), CreditReturnError::OfAnother(refund.id.to_string()));
    let pix = payout.state.end_to_end_id().unwrap();
    receive(&world.ports, &main_acquirer(), format!("back:{pix}/{return_id}").into_bytes()).await.unwrap();
    let logs = CapturedLogs::start();
    cais_use_cases::callbacks::process::run_once(&world.ports).await.unwrap();
    assert_eq!((logs.alerts("payout_return_uncredited").len(), world.available()), (1, available));
    world.check().await;
}

#[tokio::test]
async fn return_id_of_two_refunds_raises_alert() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.refund("a", &charge, part(400)).await.unwrap();
    let return_id = world.only_refund().state.return_id().unwrap().clone();
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Silent);
    world.refund("b", &charge, part(600)).await.unwrap();
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    world.psp.change_payment(&pix, |payment| {
        payment.returns.iter_mut().for_each(|back| back.return_id = Some(return_id.clone()));
    });
    world.psp.set_looking(Looking::Tells);
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    let logs = CapturedLogs::start();
    assert_eq!(world.poll().await, 2);
    assert_eq!(logs.alerts("refund_contradicted").len(), 1);
    assert!(world.store.refunds().iter().all(|refund| refund.state.status() == RefundStatus::Completed));
    world.check().await;
}

#[tokio::test]
async fn concurrent_reads_of_new_return_id_complete_refund_once() {
    let world = World::new().await.contended();
    let charge = world.paid().await;
    world.psp.set(Sending::LosesReplies);
    world.psp.set_looking(Looking::Silent);
    world.refund("a", &charge, all()).await.unwrap();
    assert_eq!(world.only_refund().state.return_id(), None);
    world.psp.set_looking(Looking::Tells);
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    world.clock.advance(LONG);
    let logs = CapturedLogs::start();
    let readers = (0..16).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { cais_use_cases::refunds::poll::run_once(&world.ports).await.unwrap() })
    });
    for reader in futures_util::future::join_all(readers).await {
        reader.unwrap();
    }
    assert_eq!((world.status(), world.available(), world.in_transit()), (RefundStatus::Completed, 0, 0));
    assert_eq!((logs.warnings(), logs.alerts("refund_contradicted")), (vec![], vec![]));
    world.check().await;
}

//! The return id of a refund: it belongs to one refund, and is never credited as the return of a payout.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::{Refund, RefundStatus};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Clock as _, ReturnedPart, UpstreamProgress};
use cais_testkit::builders::{an_operator, main_acquirer};
use cais_testkit::logs::CapturedLogs;
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::callbacks::receive;
use cais_use_cases::payouts::credit_return::{CreditReturnError, SeenReturn, credit_return};
use cais_use_cases::reconcile::{self, DifferenceKind};

use crate::bed::{LONG, TestBed, all, part};
use crate::reconcile_sent::{DONE, only, paid_out, upstream};

/// Returns a test bed with a completed payout and a completed refund. The acquirer shows the refund as a return without a
/// charge.
async fn refunded() -> (TestBed, Refund, ReturnId) {
    let bed = paid_out(PayoutStatus::Completed).await;
    bed.psp.store_payout(upstream(only(&bed).instruction_id(), 1_000, DONE));
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Completes);
    bed.refund("a", &charge, part(400)).await.unwrap();
    let refund = bed.only_refund();
    let return_id = refund.state.return_id().unwrap().clone();
    let at = bed.clock.now();
    bed.psp.show_returns_separately(vec![ReturnedPart { return_id: return_id.clone(), amount: refund.amount, at }]);
    bed.clock.advance(LONG);
    (bed, refund, return_id)
}

#[tokio::test]
async fn refund_in_list_of_payout_returns_is_not_reported() {
    let (bed, refund, _) = refunded().await;
    let (from, until) = (refund.created_at, bed.clock.now());
    let report = reconcile::run(&bed.ports, from, until, true, &|_| {}).await.unwrap();
    let unknown = report.differences.iter().find(|found| found.kind == DifferenceKind::PayoutReturnUnknown);
    assert_eq!((unknown, report.unread), (None, vec![]));
}

#[tokio::test]
async fn refund_is_not_credited_as_return_of_a_payout() {
    let (bed, refund, return_id) = refunded().await;
    let (payout, available) = (only(&bed), bed.available());
    let amount = Money::from_centavos(400);
    let note = Text::parse("in the list", 100, LineBreaks::Refused).unwrap();
    let seen = SeenReturn { payout: payout.id, return_id: return_id.clone(), amount, note };
    let refused = credit_return(&bed.ports, &an_operator(), &seen).await;
    assert_eq!(refused.unwrap_err(), CreditReturnError::OfAnother(refund.id.to_string()));
    let pix = payout.state.end_to_end_id().unwrap();
    receive(&bed.ports, &main_acquirer(), format!("back:{pix}/{return_id}").into_bytes()).await.unwrap();
    let logs = CapturedLogs::start();
    cais_use_cases::callbacks::process::run_once(&bed.ports).await.unwrap();
    assert_eq!((logs.alerts("payout_return_uncredited").len(), bed.available()), (1, available));
    bed.check().await;
}

#[tokio::test]
async fn return_id_of_two_refunds_raises_alert() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.refund("a", &charge, part(400)).await.unwrap();
    let return_id = bed.only_refund().state.return_id().unwrap().clone();
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.refund("b", &charge, part(600)).await.unwrap();
    let pix = charge.state.settlement().unwrap().end_to_end_id.clone();
    bed.psp.change_payment(&pix, |payment| {
        payment.returns.iter_mut().for_each(|back| back.return_id = Some(return_id.clone()));
    });
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    let logs = CapturedLogs::start();
    assert_eq!(bed.poll().await, 2);
    assert_eq!(logs.alerts("refund_contradicted").len(), 1);
    assert!(bed.store.refunds().iter().all(|refund| refund.state.status() == RefundStatus::Completed));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_reads_of_new_return_id_complete_refund_once() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!(bed.only_refund().state.return_id(), None);
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    bed.clock.advance(LONG);
    let logs = CapturedLogs::start();
    let readers = (0..16).map(|_| {
        let bed = bed.clone();
        tokio::spawn(async move { cais_use_cases::refunds::poll::run_once(&bed.ports).await.unwrap() })
    });
    for reader in futures_util::future::join_all(readers).await {
        reader.unwrap();
    }
    assert_eq!((bed.status(), bed.available(), bed.in_transit()), (RefundStatus::Completed, 0, 0));
    assert_eq!((logs.warnings(), logs.alerts("refund_contradicted")), (vec![], vec![]));
    bed.check().await;
}

//! Keys and external ids of refunds. A stored response is replayed, and no money is returned twice.

use cais_domain::charge::ChargeStatus;
use cais_ports::{ResponseKind, StoredResponse};
use cais_testkit::builders::{fresh, in_status, pending_charge};
use cais_testkit::psp::{LookupReply, OrderKind, OrderReply};
use cais_use_cases::external_id_conflict::ExternalIdConflict;
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};

use crate::bed::{TestBed, all, id_of, named, part};

#[tokio::test]
async fn repeat_returns_same_bytes_after_later_changes() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let first = bed.refund("a", &charge, part(400)).await.unwrap();
    bed.psp.set_returns_progress(&cais_ports::UpstreamProgress::Done { at: None });
    assert_eq!(bed.poll().await, 1);
    bed.psp.set(OrderReply::Completes);
    bed.refund("b", &charge, all()).await.unwrap();
    let again = bed.refund("a", &charge, part(400)).await.unwrap();
    assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &first.body, true));
    assert_eq!(bed.refund("a", &charge, part(401)).await, Err(CreateRefundError::KeyConflict));
    assert_eq!(bed.refund("a", &bed.pending().await, part(400)).await, Err(CreateRefundError::KeyConflict));
    assert_eq!(bed.psp.refund_orders().len(), 2);
    let records = bed.store.idempotency_records();
    let kept = records[0].answer.as_ref().map(|StoredResponse { body, .. }| body);
    assert_eq!(kept, Some(&first.body));
}

#[tokio::test]
async fn external_id_belongs_to_one_refund_permanently() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let other = bed.paid().await;
    bed.psp.set(OrderReply::Completes);
    let first = bed.refund("a", &charge, named("back-1", part(400))).await.unwrap();
    for (key, asked) in [("b", part(400)), ("c", all())] {
        let same = bed.refund(key, &charge, named("back-1", asked)).await.unwrap();
        assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    }
    for (charge, asked, fields) in [
        (&charge, part(401), vec!["amount"]),
        (&other, part(400), vec!["charge_id"]),
        (&other, part(401), vec!["charge_id", "amount"]),
        (&other, all(), vec!["charge_id"]),
    ] {
        let refused = bed.refund("d", charge, named("back-1", asked)).await;
        let conflict = ExternalIdConflict { owner: id_of(&first).to_string(), fields };
        assert_eq!(refused, Err(conflict.into()));
    }
    // The external id is checked before the state of the charge.
    bed.refund("e", &charge, all()).await.unwrap();
    let same = bed.refund("f", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!((same.kind, id_of(&same)), (ResponseKind::Existing, id_of(&first)));
    assert_eq!((bed.psp.refund_orders().len(), bed.psp.returned()), (2, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn external_id_of_unfinished_refund_is_in_progress() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.store.crash_at(1, cais_testkit::Crash::After);
    bed.refund("a", &charge, named("back-1", all())).await.unwrap_err();
    let same = bed.refund("b", &charge, named("back-1", all())).await;
    assert!(matches!(same, Err(CreateRefundError::ExternalIdInProgress { .. })), "{same:?}");
    let repeat = bed.refund("a", &charge, named("back-1", all())).await;
    assert!(matches!(repeat, Err(CreateRefundError::KeyInProgress { .. })), "{repeat:?}");
    // The charge must exist before its refunds are searched.
    let elsewhere = in_status(pending_charge(bed.account.id), ChargeStatus::Abandoned);
    let unknown = bed.refund("c", &elsewhere, named("back-1", all())).await;
    assert_eq!(unknown, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
}

#[tokio::test]
async fn concurrent_requests_with_one_external_id_make_one_refund() {
    let bed = TestBed::new().await.contended();
    let charge = bed.paid().await;
    let keys: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let calls = keys.iter().map(|key| bed.refund(key, &charge, named("back-1", part(100))));
    let answers = futures_util::future::join_all(calls).await;
    assert_eq!(answers.iter().flatten().filter(|answer| answer.kind == ResponseKind::Created).count(), 1);
    for answer in &answers {
        match answer {
            Ok(answer) => assert_eq!(id_of(answer), bed.only_refund().id),
            Err(error) => assert!(matches!(error, CreateRefundError::ExternalIdInProgress { .. }), "{error:?}"),
        }
    }
    assert_eq!((bed.psp.refund_orders().len(), bed.in_transit()), (1, 100));
    bed.check().await;
}

#[tokio::test]
async fn refused_request_leaves_its_key_free() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.refund("a", &charge, part(1_001)).await.unwrap_err();
    assert_eq!(bed.refund("a", &charge, part(1_000)).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn refund_with_lost_reply_is_looked_up_at_once() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::LosesReplies);
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!((bed.psp.refund_orders().len(), bed.psp.finds(OrderKind::Refund)), (1, 1));
    assert!(bed.only_refund().state.return_id().is_some(), "the return id of the look-up is stored");
}

#[tokio::test]
async fn keys_of_accounts_are_independent() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.refund("a", &charge, part(100)).await.unwrap();
    let stranger = cais_domain::merchant::account::Account { id: fresh(), ..bed.account.clone() };
    let command =
        cais_use_cases::refunds::create::CreateRefund { account: stranger, ..bed.command("a", &charge, part(100)) };
    let refused = cais_use_cases::refunds::create::create(&bed.ports, command).await;
    assert_eq!(refused, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
}

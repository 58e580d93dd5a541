//! A confirmed payout is sent once, after any repeat or interruption.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::ids::ConfirmationId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_ports::{AuditFilter, AuditQueries as _, PageRequest, PendingAction};
use cais_testkit::Crash;
use cais_testkit::bed::PAST_LEASE;
use cais_testkit::psp::OrderReply;
use cais_use_cases::logins::begin::begin;
use cais_use_cases::logins::orders::{SendError, SentOrder, approve, needs_code, send_payout};
use cais_use_cases::logins::{LoginError, Logins, Visitor};
use cais_use_cases::payouts::create::CreatePayoutError;
use cais_use_cases::upstream_order::CreateError;
use futures_util::future::join;

use crate::bed::{EMAIL, TestBed, browser};

fn payout(centavos: i64) -> PendingAction {
    PendingAction::SendPayout {
        amount: Money::from_centavos(centavos),
        pix_key: PixKey::parse("ana@bank.example").unwrap(),
        description: None,
        external_id: None,
    }
}

/// An approval or a payout that failed.
#[derive(Debug)]
enum Failed {
    Approval(LoginError),
    Payout(SendError<CreatePayoutError>),
}

/// Confirms and sends a payout, as the page does.
async fn submit(logins: &Logins, visitor: &Visitor, id: ConfirmationId, code: &str) -> Result<SentOrder, Failed> {
    let approved = approve(logins, &browser(), visitor, id, code).await.map_err(Failed::Approval)?;
    send_payout(&logins.ports, &approved).await.map_err(Failed::Payout)
}

#[tokio::test]
async fn payout_above_the_limit_needs_a_fresh_code() {
    let bed = TestBed::new();
    let (visitor, base) = bed.shop(EMAIL).await;
    let needs_code = |centavos| needs_code(&payout(centavos), &visitor.session);
    assert!(!needs_code(100_000) && needs_code(100_001));
    let id = begin(&bed.logins, &visitor, payout(100_001)).await.unwrap();
    let missing = submit(&bed.logins, &visitor, id, "").await;
    assert!(matches!(missing, Err(Failed::Approval(LoginError::CodeNeeded))), "{missing:?}");
    for code in ["999999", &bed.code(&visitor.user, -1)] {
        let failed = submit(&bed.logins, &visitor, id, code).await;
        assert!(matches!(failed, Err(Failed::Approval(LoginError::Refused))), "{code}: {failed:?}");
    }
    assert_eq!(base.psp.payout_orders().len(), 0);
    let code = bed.code(&visitor.user, 0);
    let sent = submit(&bed.logins, &visitor, id, &code).await.unwrap();
    let stored = bed.store.payouts();
    assert_eq!(stored.iter().map(|payout| payout.id.to_string()).collect::<Vec<_>>(), [created(&sent)]);
    assert_eq!(stored.first().map(|payout| payout.terms.origin), Some(Origin::Manual));
    let second = begin(&bed.logins, &visitor, payout(100_001)).await.unwrap();
    let used = submit(&bed.logins, &visitor, second, &code).await;
    assert!(matches!(used, Err(Failed::Approval(LoginError::Refused))), "{used:?}");
    let filter = AuditFilter { operator: Some(EMAIL.to_owned()), ..AuditFilter::default() };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 1, starting_after: None }).await.unwrap().rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.after.as_deref())).collect();
    assert_eq!(rows, [("payout.send", Some(r#"{"amount":1000.01,"pix_key":"ana@bank.example"}"#))]);
    base.check().await;
}

/// A stolen session can send at most the limit, whatever the number of payouts.
#[tokio::test]
async fn payouts_without_a_code_have_a_limit_together() {
    let bed = TestBed::new();
    let (visitor, base) = bed.shop(EMAIL).await;
    let begun = async |centavos| begin(&bed.logins, &visitor, payout(centavos)).await.unwrap();
    let (first, second, third) = (begun(60_000).await, begun(60_000).await, begun(40_000).await);
    submit(&bed.logins, &visitor, first, "").await.unwrap();
    let refused = submit(&bed.logins, &visitor, second, "").await;
    assert!(matches!(refused, Err(Failed::Approval(LoginError::CodeNeeded))), "{refused:?}");
    submit(&bed.logins, &visitor, third, "").await.unwrap();
    assert_eq!(base.psp.payout_orders().len(), 2);
    let code = bed.code(&visitor.user, 0);
    submit(&bed.logins, &visitor, second, &code).await.unwrap();
    let after = begun(100_000).await;
    submit(&bed.logins, &visitor, after, "").await.unwrap();
    assert_eq!(base.psp.payout_orders().len(), 4);
    base.check().await;
}

fn created(sent: &SentOrder) -> String {
    match sent {
        SentOrder::Created(id) => id.clone(),
        SentOrder::NotCovered => panic!("not covered"),
    }
}

#[tokio::test]
async fn repeated_form_leads_to_the_same_payout() {
    for centavos in [1_000, 200_000] {
        let bed = TestBed::new();
        let (visitor, base) = bed.shop(EMAIL).await;
        let id = begin(&bed.logins, &visitor, payout(centavos)).await.unwrap();
        let code = bed.code(&visitor.user, 0);
        let first = submit(&bed.logins, &visitor, id, &code).await.unwrap();
        let again = submit(&bed.logins, &visitor, id, "").await.unwrap();
        assert_eq!(first, again);
        assert_eq!((base.psp.payout_orders().len(), bed.store.payouts().len()), (1, 1));
        bed.clock.advance(Duration::from_mins(10));
        let late = submit(&bed.logins, &visitor, id, "").await;
        assert!(matches!(late, Err(Failed::Approval(LoginError::Over))), "{late:?}");
    }
}

#[tokio::test]
async fn two_forms_at_once_send_one_payout() {
    for centavos in [1_000, 200_000] {
        let bed = TestBed::new();
        let (visitor, base) = bed.shop(EMAIL).await;
        let contended = Logins { ports: base.contended().ports, ..bed.logins.clone() };
        let id = begin(&bed.logins, &visitor, payout(centavos)).await.unwrap();
        let code = bed.code(&visitor.user, 0);
        let both = join(submit(&contended, &visitor, id, &code), submit(&contended, &visitor, id, &code));
        let (first, second) = Box::pin(both).await;
        assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
        for result in [first, second] {
            match result {
                Ok(sent) => assert_eq!(created(&sent), bed.store.payouts().first().unwrap().id.to_string()),
                Err(Failed::Payout(SendError::Order(CreateError::KeyInProgress { .. }))) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!((base.psp.payout_orders().len(), bed.store.payouts().len()), (1, 1));
        base.check().await;
    }
}

#[tokio::test]
async fn interrupted_order_is_sent_once_by_a_repeat() {
    for centavos in [1_000, 200_000] {
        // The commits are: approval, hold and outcome.
        for (nth, crash) in [1, 2, 3].into_iter().flat_map(|nth| [(nth, Crash::Before), (nth, Crash::After)]) {
            let bed = TestBed::new();
            let (visitor, base) = bed.shop(EMAIL).await;
            let id = begin(&bed.logins, &visitor, payout(centavos)).await.unwrap();
            bed.store.crash_at(nth, crash);
            let code = bed.code(&visitor.user, 0);
            submit(&bed.logins, &visitor, id, &code).await.unwrap_err();
            bed.clock.advance(PAST_LEASE);
            let code = bed.code(&visitor.user, 0);
            let sent = submit(&bed.logins, &visitor, id, &code).await.unwrap();
            let stored = bed.store.payouts();
            assert_eq!(stored.len(), 1, "{nth} {crash:?}");
            assert_eq!(created(&sent), stored.first().unwrap().id.to_string(), "{nth} {crash:?}");
            assert_eq!(base.psp.sent(), 1, "{nth} {crash:?}");
            assert_eq!(base.available() + base.in_transit(), 1_000_000, "{nth} {crash:?}");
            base.check().await;
        }
    }
}

#[tokio::test]
async fn payout_without_acquirer_may_be_sent_again() {
    let bed = TestBed::new();
    let (visitor, base) = bed.shop(EMAIL).await;
    let id = begin(&bed.logins, &visitor, payout(1_000)).await.unwrap();
    base.psp.set_all(OrderReply::Down);
    base.second.set_all(OrderReply::Down);
    let failed = submit(&bed.logins, &visitor, id, "").await;
    let is_down = matches!(failed, Err(Failed::Payout(SendError::Order(CreateError::AcquirerUnavailable))));
    assert!(is_down, "{failed:?}");
    assert_eq!(base.available(), 1_000_000, "nothing is held");
    base.psp.set_all(OrderReply::Accepts);
    submit(&bed.logins, &visitor, id, "").await.unwrap();
    assert_eq!((base.psp.sent(), base.available()), (1, 999_000));
}

#[tokio::test]
async fn uncovered_payout_is_not_created() {
    let bed = TestBed::new();
    let (visitor, base) = bed.shop(EMAIL).await;
    let id = begin(&bed.logins, &visitor, payout(1_000)).await.unwrap();
    base.set_available(999).await;
    for _ in 0..2 {
        assert_eq!(submit(&bed.logins, &visitor, id, "").await.unwrap(), SentOrder::NotCovered);
    }
    assert_eq!((base.psp.payout_orders().len(), base.available()), (0, 999));
}

#[tokio::test]
async fn unapproved_or_foreign_order_is_not_sent() {
    let bed = TestBed::new();
    let ((ana, base), bia) = (bed.shop(EMAIL).await, bed.visitor("bia@shop.example").await);
    let id = begin(&bed.logins, &ana, payout(1_000)).await.unwrap();
    let foreign = submit(&bed.logins, &bia, id, "").await;
    assert!(matches!(foreign, Err(Failed::Approval(LoginError::Over))), "{foreign:?}");
    let open = cais_use_cases::logins::orders::find(&bed.logins, &ana, id).await.unwrap();
    let unapproved = send_payout(&bed.logins.ports, &open).await;
    assert_eq!(unapproved, Err(SendError::OtherAction));
    assert_eq!(base.psp.payout_orders().len(), 0);
}

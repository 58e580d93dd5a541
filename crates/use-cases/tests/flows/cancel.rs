//! Cancellation: at the acquirer first, repeatable, and never after a payment.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_domain::merchant::account::{Account, AccountStatus, NotPermitted};
use cais_testkit::builders::{an_account, fresh};
use cais_testkit::psp::OrderReply;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::cancel::{CancelChargeError, cancel};
use cais_use_cases::charges::fetch::FetchError;

use crate::bed::{TestBed, named, ten_reais};

async fn cancelled(bed: &TestBed, charge: &Charge) -> Result<ChargeStatus, CancelChargeError> {
    let after = cancel(&bed.ports, &bed.account, &ChargeName::Id(charge.id)).await?;
    assert_eq!(after, bed.charge(charge.id), "the result equals the stored charge");
    Ok(after.state.status())
}

#[tokio::test]
async fn repeated_cancellation_leaves_charge_cancelled() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    for _ in 0..3 {
        assert_eq!(cancelled(&bed, &charge).await, Ok(ChargeStatus::Cancelled));
    }
    assert_eq!(bed.event_types(), [EventType::ChargeCancelled]);
    bed.check().await;
}

#[tokio::test]
async fn payment_before_cancellation_wins() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    let refused = cancelled(&bed, &charge).await;
    assert_eq!(refused, Err(CancelChargeError::InvalidState(ChargeStatus::Paid)));
    assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Paid, 1_000));
    assert_eq!(bed.event_types(), [EventType::ChargePaid]);
}

#[tokio::test]
async fn ended_charge_cannot_be_cancelled() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.clock.advance(Duration::from_hours(2));
    let refused = cancelled(&bed, &charge).await;
    assert_eq!(refused, Err(CancelChargeError::InvalidState(ChargeStatus::Expired)));
    assert_eq!(cancelled(&bed, &charge).await, refused);
}

#[tokio::test]
async fn cancellation_failed_upstream_leaves_charge_pending() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    for (mood, certain) in [(OrderReply::Down, true), (OrderReply::Refuses, true), (OrderReply::Silent, false)] {
        bed.psp.set_all(mood);
        let refused = cancelled(&bed, &charge).await.unwrap_err();
        assert_eq!(refused == CancelChargeError::AcquirerUnavailable, certain, "{mood:?}: {refused}");
        assert_eq!(
            matches!(refused, CancelChargeError::Fetch(FetchError::Unavailable { retry_after_s: 1.. })),
            !certain
        );
        assert_eq!(bed.status(charge.id), ChargeStatus::Pending);
    }
    bed.psp.set_all(OrderReply::LosesReplies);
    cancelled(&bed, &charge).await.unwrap_err();
    bed.psp.set_all(OrderReply::Accepts);
    assert_eq!(cancelled(&bed, &charge).await, Ok(ChargeStatus::Cancelled), "a repeat returns the outcome");
}

#[tokio::test]
async fn cancellation_with_lost_reply_is_visible_to_readers() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.set_all(OrderReply::LosesReplies);
    cancelled(&bed, &charge).await.unwrap_err();
    bed.psp.set_all(OrderReply::Accepts);
    assert_eq!(bed.read(charge.id).await.unwrap().state.status(), ChargeStatus::Cancelled);
}

#[tokio::test]
async fn cancellation_requires_own_active_account() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let name = ChargeName::Id(charge.id);
    let stranger = an_account();
    assert_eq!(cancel(&bed.ports, &stranger, &name).await, Err(CancelChargeError::Fetch(FetchError::NotFound)));
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let refused = cancel(&bed.ports, &suspended, &name).await;
    assert_eq!(refused, Err(CancelChargeError::NotPermitted(NotPermitted::Suspended)));
    let nothing = cancel(&bed.ports, &bed.account, &ChargeName::Id(fresh())).await;
    assert_eq!(nothing, Err(CancelChargeError::Fetch(FetchError::NotFound)));
    assert_eq!(bed.status(charge.id), ChargeStatus::Pending);
}

#[tokio::test]
async fn cancellation_during_creation_is_in_progress() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Silent);
    let terms = named("order-1", ten_reais());
    let external_id = terms.external_id.clone().unwrap();
    bed.create("a", terms).await.unwrap_err();
    let by_name = cancel(&bed.ports, &bed.account, &ChargeName::External(external_id)).await;
    assert!(matches!(by_name, Err(CancelChargeError::Fetch(FetchError::InProgress { .. }))), "{by_name:?}");
    let by_id = cancel(&bed.ports, &bed.account, &ChargeName::Id(bed.only_charge().id)).await;
    assert_eq!(by_id, Err(CancelChargeError::Fetch(FetchError::NotFound)));
}

//! Repeats with a known key.

use cais_ports::ResponseKind;
use cais_testkit::psp::OrderReply;
use cais_use_cases::crypto::withdrawals::create::CreateWithdrawalError;

use crate::bed::{TestBed, a_hundred, named};

#[tokio::test]
async fn replay_needs_no_price() {
    let bed = TestBed::new().await;
    let first = bed.create("a", a_hundred()).await.unwrap();
    bed.processor.state().prices = false;
    let again = bed.create("a", a_hundred()).await.unwrap();
    assert_eq!((again.kind, again.body), (ResponseKind::Created, first.body));
    assert_eq!(bed.store.crypto_quotes().len(), 1);
}

#[tokio::test]
async fn known_key_with_other_terms_is_a_conflict() {
    let bed = TestBed::new().await;
    bed.create("a", a_hundred()).await.unwrap();
    let other = bed.create("a", named("order-1", a_hundred())).await;
    assert_eq!(other, Err(CreateWithdrawalError::KeyConflict));
}

#[tokio::test]
async fn abandoned_withdrawal_of_a_suspended_account_stays_abandoned() {
    let bed = TestBed::new().await;
    bed.processor.set(OrderReply::Down);
    assert_eq!(bed.create("a", a_hundred()).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    bed.processor.set(OrderReply::Accepts);
    let mut suspended = bed.clone();
    suspended.0.account.status = cais_domain::merchant::account::AccountStatus::Suspended;
    let refused = suspended.create("a", a_hundred()).await;
    assert!(matches!(refused, Err(CreateWithdrawalError::NotPermitted(_))), "{refused:?}");
    bed.untouched().await;
}

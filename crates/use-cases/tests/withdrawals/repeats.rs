//! Repeats with a known key.

use cais_ports::ResponseKind;
use cais_testkit::psp::Sending;
use cais_use_cases::crypto::withdrawals::create::CreateWithdrawalError;

use crate::world::{World, a_hundred, named};

#[tokio::test]
async fn replay_needs_no_price() {
    let world = World::new().await;
    let first = world.create("a", a_hundred()).await.unwrap();
    world.processor.state().prices = false;
    let again = world.create("a", a_hundred()).await.unwrap();
    assert_eq!((again.kind, again.body), (ResponseKind::Created, first.body));
    assert_eq!(world.store.crypto_quotes().len(), 1);
}

#[tokio::test]
async fn known_key_with_other_terms_is_a_conflict() {
    let world = World::new().await;
    world.create("a", a_hundred()).await.unwrap();
    let other = world.create("a", named("order-1", a_hundred())).await;
    assert_eq!(other, Err(CreateWithdrawalError::KeyConflict));
}

#[tokio::test]
async fn abandoned_withdrawal_of_a_suspended_account_stays_abandoned() {
    let world = World::new().await;
    world.processor.set(Sending::Down);
    assert_eq!(world.create("a", a_hundred()).await, Err(CreateWithdrawalError::AcquirerUnavailable));
    world.processor.set(Sending::Takes);
    let mut suspended = world.clone();
    suspended.0.account.status = cais_domain::merchant::account::AccountStatus::Suspended;
    let refused = suspended.create("a", a_hundred()).await;
    assert!(matches!(refused, Err(CreateWithdrawalError::NotPermitted(_))), "{refused:?}");
    world.untouched().await;
}

//! Changes of an endpoint, and rotation of its secret.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EndpointId;
use cais_domain::merchant::account::{Account, AccountStatus, NotPermitted};
use cais_domain::merchant::webhook::{Endpoint, EndpointChange, EndpointState, Subscription, WebhookUrl};
use cais_ports::{SigningSecret, UrlRefusal};
use cais_testkit::builders::{a_webhook_url, fresh, subscribed};
use cais_use_cases::webhooks::WriteEndpointError;
use cais_use_cases::webhooks::change::{ChangeEndpointError, change};
use cais_use_cases::webhooks::create::{CreateEndpoint, create};
use cais_use_cases::webhooks::rotate::rotate;
use futures_util::future::{join, join_all};

use crate::bed::TestBed;

fn to(url: &WebhookUrl) -> EndpointChange {
    EndpointChange { url: Some(url.clone()), ..EndpointChange::default() }
}

async fn changed(bed: &TestBed, id: EndpointId, asked: EndpointChange) -> Result<Endpoint, ChangeEndpointError> {
    change(&bed.ports, &bed.account, id, asked).await
}

#[tokio::test]
async fn moved_endpoint_frees_its_old_address() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let url = a_webhook_url();
    let moved = changed(&bed, endpoint.id, to(&url)).await.unwrap();
    assert_eq!(moved, bed.stored(endpoint.id).await);
    assert_eq!((moved.url, moved.epoch), (url.clone(), endpoint.epoch), "the queue stays the same");
    assert_eq!(bed.receivers.vetted(), [endpoint.url.as_str(), url.as_str()]);

    let (asked, account) = (EndpointChange::default(), &bed.account);
    let other = CreateEndpoint { url: endpoint.url, subscription: Subscription::All, description: None };
    create(&bed.ports, account, other).await.unwrap();
    let taken = CreateEndpoint { url, subscription: Subscription::All, description: None };
    create(&bed.ports, account, taken).await.unwrap_err();
    changed(&bed, endpoint.id, asked).await.unwrap();
}

#[tokio::test]
async fn change_to_taken_or_forbidden_address_is_refused() {
    let bed = TestBed::new().await;
    let (endpoint, other) = (bed.endpoint().await, bed.endpoint().await);
    assert_eq!(changed(&bed, endpoint.id, to(&other.url)).await, Err(ChangeEndpointError::UrlTaken));
    let inside = a_webhook_url();
    bed.receivers.refuse(&inside, UrlRefusal::NotPublic);
    let refused = changed(&bed, endpoint.id, to(&inside)).await;
    assert_eq!(refused, Err(ChangeEndpointError::Url(UrlRefusal::NotPublic)));
    assert_eq!(bed.stored(endpoint.id).await, endpoint);
}

#[tokio::test]
async fn change_without_difference_writes_nothing() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let (commits, vetted) = (bed.store.commits(), bed.receivers.vetted());
    let asked = EndpointChange { active: Some(true), ..to(&endpoint.url) };
    assert_eq!(changed(&bed, endpoint.id, asked).await.unwrap(), endpoint);
    assert_eq!((bed.store.commits(), bed.receivers.vetted()), (commits, vetted));
}

#[tokio::test]
async fn reactivated_endpoint_is_checked_again() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let stopped = bed.set_active(&endpoint, false).await;
    assert_eq!((stopped.state, stopped.epoch), (EndpointState::Inactive, 0));
    assert_eq!(bed.receivers.vetted().len(), 1, "to stop needs no judgment");
    bed.receivers.refuse(&endpoint.url, UrlRefusal::NotPublic);
    let active = EndpointChange { active: Some(true), ..EndpointChange::default() };
    let refused = changed(&bed, endpoint.id, active.clone()).await;
    assert_eq!(refused, Err(ChangeEndpointError::Url(UrlRefusal::NotPublic)));
    // The same request also changes the address to a permitted one.
    let url = a_webhook_url();
    let again = changed(&bed, endpoint.id, EndpointChange { url: Some(url), ..active }).await.unwrap();
    assert_eq!((again.state, again.epoch), (EndpointState::Active, 0));
}

#[tokio::test]
async fn concurrent_changes_are_all_committed() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let url = a_webhook_url();
    let types = subscribed(&[EventType::ChargePaid]);
    let subscribes = EndpointChange { subscription: Some(types.clone()), ..EndpointChange::default() };
    let stops = EndpointChange { active: Some(false), ..EndpointChange::default() };
    let calls = [to(&url), subscribes, stops, to(&url)].map(|change| changed(&bed, endpoint.id, change));
    for outcome in join_all(calls).await {
        outcome.unwrap();
    }
    let after = bed.stored(endpoint.id).await;
    assert_eq!((after.url, after.subscription, after.state), (url, types, EndpointState::Inactive));
}

#[tokio::test]
async fn change_without_permission_or_of_foreign_endpoint_fails() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let refused = change(&bed.ports, &suspended, endpoint.id, to(&a_webhook_url())).await;
    assert_eq!(refused, Err(ChangeEndpointError::NotPermitted(NotPermitted::Suspended)));
    let refused = rotate(&bed.ports, &suspended, endpoint.id, 0).await.unwrap_err();
    assert_eq!(refused, WriteEndpointError::NotPermitted(NotPermitted::Suspended));
    assert_eq!(changed(&bed, fresh(), to(&a_webhook_url())).await, Err(ChangeEndpointError::NotFound));
    let refused = rotate(&bed.ports, &bed.account, fresh(), 0).await.unwrap_err();
    assert_eq!(refused, WriteEndpointError::NotFound);
}

/// Returns the decrypted secrets that sign for the endpoint now.
async fn signing(bed: &TestBed, id: EndpointId) -> Vec<SigningSecret> {
    let endpoint = bed.stored(id).await;
    let open = |sealed| bed.ports.secret_cipher.decrypt(&id.to_string(), sealed).unwrap();
    endpoint.signing(bed.now()).into_iter().map(open).collect()
}

#[tokio::test]
async fn previous_secret_signs_until_end_of_grace() {
    let bed = TestBed::new().await;
    let asked = CreateEndpoint { url: a_webhook_url(), subscription: Subscription::All, description: None };
    let (endpoint, first) = create(&bed.ports, &bed.account, asked).await.unwrap();
    let (rotated, second) = rotate(&bed.ports, &bed.account, endpoint.id, 60).await.unwrap();
    assert_eq!(rotated, bed.stored(endpoint.id).await);
    assert_eq!(signing(&bed, endpoint.id).await, [second.clone(), first]);
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(signing(&bed, endpoint.id).await, std::slice::from_ref(&second));

    let (_, third) = rotate(&bed.ports, &bed.account, endpoint.id, 60).await.unwrap();
    let (_, fourth) = rotate(&bed.ports, &bed.account, endpoint.id, 60).await.unwrap();
    assert_eq!(signing(&bed, endpoint.id).await, [fourth.clone(), third], "the last two at most");
    let (_, fifth) = rotate(&bed.ports, &bed.account, endpoint.id, 0).await.unwrap();
    assert_eq!(signing(&bed, endpoint.id).await, [fifth], "without a grace the others end at once");
}

#[tokio::test]
async fn concurrent_rotations_leave_both_new_secrets() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let one = rotate(&bed.ports, &bed.account, endpoint.id, 60);
    let other = rotate(&bed.ports, &bed.account, endpoint.id, 60);
    let (one, other) = join(one, other).await;
    let signing = signing(&bed, endpoint.id).await;
    assert_eq!(signing.len(), 2);
    for secret in [one.unwrap().1, other.unwrap().1] {
        assert!(signing.contains(&secret), "both callers can verify with their secret");
    }
}

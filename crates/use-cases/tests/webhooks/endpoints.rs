//! Endpoints are registered: the stored record, permissions, the limit, and unique values.

use std::sync::Arc;

use cais_domain::merchant::account::{Account, AccountStatus, NotPermitted};
use cais_domain::merchant::webhook::{EndpointState, MAX_ENDPOINTS, SealedSecret, Subscription, WebhookUrl};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{DecryptError, EncryptError, SecretCipher, SigningSecret, UrlRefusal};
use cais_testkit::builders::{a_webhook_url, an_account};
use cais_use_cases::Ports;
use cais_use_cases::store_error::StoreError;
use cais_use_cases::webhooks::WriteEndpointError;
use cais_use_cases::webhooks::create::{CreateEndpoint, CreateEndpointError, create};
use cais_use_cases::webhooks::delete::delete;
use cais_use_cases::webhooks::rotate::rotate;
use futures_util::future::join_all;

use crate::bed::TestBed;

fn at(url: WebhookUrl) -> CreateEndpoint {
    CreateEndpoint { url, subscription: Subscription::All, description: None }
}

#[tokio::test]
async fn new_endpoint_is_active_with_encrypted_secret() {
    let bed = TestBed::new().await;
    let description = Text::parse("till", 200, LineBreaks::Refused).unwrap();
    let asked = CreateEndpoint { description: Some(description), ..at(a_webhook_url()) };
    let (endpoint, secret) = create(&bed.ports, &bed.account, asked.clone()).await.unwrap();

    assert_eq!(endpoint, bed.stored(endpoint.id).await);
    assert_eq!((endpoint.url, endpoint.description), (asked.url.clone(), asked.description));
    assert_eq!((endpoint.state, endpoint.slot, endpoint.epoch), (EndpointState::Active, 0, 0));
    let opened = |bound_to: &str| bed.ports.secret_cipher.decrypt(bound_to, &endpoint.secret);
    assert_eq!(opened(&endpoint.id.to_string()), Ok(secret));
    assert!(opened("another").is_err(), "a secret decrypts for its own endpoint only");
    assert_eq!(bed.receivers.vetted(), [asked.url.as_str()]);
    assert_eq!(bed.event_types(), [], "a registration is no event");
}

#[tokio::test]
async fn two_endpoints_have_different_secrets() {
    let bed = TestBed::new().await;
    let first = create(&bed.ports, &bed.account, at(a_webhook_url())).await.unwrap();
    let second = create(&bed.ports, &bed.account, at(a_webhook_url())).await.unwrap();
    assert_ne!(first.1, second.1);
    assert_ne!(first.0.slot, second.0.slot);
}

#[tokio::test]
async fn endpoint_without_permission_or_address_is_refused() {
    let bed = TestBed::new().await;
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let refused = create(&bed.ports, &suspended, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::NotPermitted(NotPermitted::Suspended));
    assert_eq!(bed.receivers.vetted().len(), 0, "a suspended account causes no name resolution");

    let inside = a_webhook_url();
    bed.receivers.refuse(&inside, UrlRefusal::NotPublic);
    let refused = create(&bed.ports, &bed.account, at(inside)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Url(UrlRefusal::NotPublic));
    assert_eq!(bed.store.endpoints(), []);
}

#[tokio::test]
async fn concurrent_registrations_stop_at_twenty() {
    let bed = TestBed::new().await;
    let calls = (0..64).map(|_| create(&bed.ports, &bed.account, at(a_webhook_url())));
    let (made, refused): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (usize::from(MAX_ENDPOINTS), 44));
    for refusal in refused {
        assert_eq!(refusal.unwrap_err(), CreateEndpointError::LimitReached);
    }
    let mut slots: Vec<u8> = bed.store.endpoints().iter().map(|endpoint| endpoint.slot).collect();
    slots.sort_unstable();
    assert_eq!(slots, (0..MAX_ENDPOINTS).collect::<Vec<_>>());
}

#[tokio::test]
async fn concurrent_registrations_of_one_address_leave_one() {
    let bed = TestBed::new().await;
    let url = a_webhook_url();
    let calls = (0..16).map(|_| create(&bed.ports, &bed.account, at(url.clone())));
    let (made, refused): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (1, 15));
    for refusal in refused {
        assert_eq!(refusal.unwrap_err(), CreateEndpointError::UrlTaken);
    }
}

#[tokio::test]
async fn address_may_be_used_by_another_account() {
    let bed = TestBed::new().await;
    let other = an_account();
    bed.ports.store.commit(cais_testkit::builders::steps::open_account(&other)).await.unwrap();
    let url = a_webhook_url();
    create(&bed.ports, &bed.account, at(url.clone())).await.unwrap();
    create(&bed.ports, &other, at(url)).await.unwrap();
}

#[tokio::test]
async fn taken_address_is_reported_before_limit() {
    let bed = TestBed::new().await;
    for _ in 0..MAX_ENDPOINTS {
        bed.endpoint().await;
    }
    let vetted = bed.receivers.vetted().len();
    let taken = bed.store.endpoints()[3].url.clone();
    let refused = create(&bed.ports, &bed.account, at(taken)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::UrlTaken);
    let refused = create(&bed.ports, &bed.account, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::LimitReached);
    assert_eq!(bed.receivers.vetted().len(), vetted, "a full account causes no name resolution");
    let inside = a_webhook_url();
    bed.receivers.refuse(&inside, UrlRefusal::NotPublic);
    let refused = create(&bed.ports, &bed.account, at(inside)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Url(UrlRefusal::NotPublic), "the URL is checked before the limit");
}

/// A cipher that cannot encrypt.
struct FailingCipher;

impl SecretCipher for FailingCipher {
    fn encrypt(&self, _bound_to: &str, _secret: &SigningSecret) -> Result<SealedSecret, EncryptError> {
        Err(EncryptError)
    }

    fn decrypt(&self, _bound_to: &str, _sealed: &SealedSecret) -> Result<SigningSecret, DecryptError> {
        Err(DecryptError)
    }
}

#[tokio::test]
async fn secret_that_cannot_be_encrypted_is_not_stored() {
    let bed = TestBed::new().await;
    let before = bed.endpoint().await;
    let ports = Ports { secret_cipher: Arc::new(FailingCipher), ..bed.ports.clone() };
    let trouble = StoreError::Internal(EncryptError.to_string());
    let refused = create(&ports, &bed.account, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Store(trouble.clone()));
    let refused = rotate(&ports, &bed.account, before.id, 0).await.unwrap_err();
    assert_eq!(refused, WriteEndpointError::Store(trouble));
    assert_eq!(bed.store.endpoints(), [before]);
}

#[tokio::test]
async fn deleted_endpoint_frees_its_slot_and_address() {
    let bed = TestBed::new().await;
    for _ in 0..MAX_ENDPOINTS {
        bed.endpoint().await;
    }
    let gone = bed.store.endpoints()[7].clone();
    delete(&bed.ports, &bed.account, gone.id).await.unwrap();
    let again = delete(&bed.ports, &bed.account, gone.id).await;
    assert_eq!(again, Err(WriteEndpointError::NotFound));

    let (new, _) = create(&bed.ports, &bed.account, at(gone.url.clone())).await.unwrap();
    assert_eq!((new.slot, new.url), (gone.slot, gone.url));
    assert_ne!(new.id, gone.id);
}

#[tokio::test]
async fn foreign_endpoint_is_not_found() {
    let bed = TestBed::new().await;
    let endpoint = bed.endpoint().await;
    let refused = delete(&bed.ports, &an_account(), endpoint.id).await;
    assert_eq!(refused, Err(WriteEndpointError::NotFound));
    assert!(bed.stored(endpoint.id).await.is_active());
}

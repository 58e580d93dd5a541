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

use crate::world::World;

fn at(url: WebhookUrl) -> CreateEndpoint {
    CreateEndpoint { url, subscription: Subscription::All, description: None }
}

#[tokio::test]
async fn new_endpoint_is_active_with_encrypted_secret() {
    let world = World::new().await;
    let description = Text::parse("till", 200, LineBreaks::Refused).unwrap();
    let asked = CreateEndpoint { description: Some(description), ..at(a_webhook_url()) };
    let (endpoint, secret) = create(&world.ports, &world.account, asked.clone()).await.unwrap();

    assert_eq!(endpoint, world.stored(endpoint.id).await);
    assert_eq!((endpoint.url, endpoint.description), (asked.url.clone(), asked.description));
    assert_eq!((endpoint.state, endpoint.slot, endpoint.epoch), (EndpointState::Active, 0, 0));
    let opened = |owner: &str| world.ports.secret_cipher.decrypt(owner, &endpoint.secret);
    assert_eq!(opened(&endpoint.id.to_string()), Ok(secret));
    assert!(opened("another").is_err(), "a secret decrypts for its own endpoint only");
    assert_eq!(world.receivers.vetted(), [asked.url.as_str()]);
    assert_eq!(world.event_types(), [], "a registration is no event");
}

#[tokio::test]
async fn two_endpoints_have_different_secrets() {
    let world = World::new().await;
    let first = create(&world.ports, &world.account, at(a_webhook_url())).await.unwrap();
    let second = create(&world.ports, &world.account, at(a_webhook_url())).await.unwrap();
    assert_ne!(first.1, second.1);
    assert_ne!(first.0.slot, second.0.slot);
}

#[tokio::test]
async fn endpoint_without_permission_or_address_is_refused() {
    let world = World::new().await;
    let suspended = Account { status: AccountStatus::Suspended, ..world.account.clone() };
    let refused = create(&world.ports, &suspended, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::NotPermitted(NotPermitted::Suspended));
    assert_eq!(world.receivers.vetted().len(), 0, "a suspended account causes no name resolution");

    let inside = a_webhook_url();
    world.receivers.refuse(&inside, UrlRefusal::NotPublic);
    let refused = create(&world.ports, &world.account, at(inside)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Url(UrlRefusal::NotPublic));
    assert_eq!(world.store.endpoints(), []);
}

#[tokio::test]
async fn concurrent_registrations_stop_at_twenty() {
    let world = World::new().await;
    let calls = (0..64).map(|_| create(&world.ports, &world.account, at(a_webhook_url())));
    let (made, refused): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (usize::from(MAX_ENDPOINTS), 44));
    for refusal in refused {
        assert_eq!(refusal.unwrap_err(), CreateEndpointError::LimitReached);
    }
    let mut slots: Vec<u8> = world.store.endpoints().iter().map(|endpoint| endpoint.slot).collect();
    slots.sort_unstable();
    assert_eq!(slots, (0..MAX_ENDPOINTS).collect::<Vec<_>>());
}

#[tokio::test]
async fn concurrent_registrations_of_one_address_leave_one() {
    let world = World::new().await;
    let url = a_webhook_url();
    let calls = (0..16).map(|_| create(&world.ports, &world.account, at(url.clone())));
    let (made, refused): (Vec<_>, Vec<_>) = join_all(calls).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (1, 15));
    for refusal in refused {
        assert_eq!(refusal.unwrap_err(), CreateEndpointError::UrlTaken);
    }
}

#[tokio::test]
async fn address_may_be_used_by_another_account() {
    let world = World::new().await;
    let other = an_account();
    world.ports.store.commit(cais_testkit::builders::steps::open_account(&other)).await.unwrap();
    let url = a_webhook_url();
    create(&world.ports, &world.account, at(url.clone())).await.unwrap();
    create(&world.ports, &other, at(url)).await.unwrap();
}

#[tokio::test]
async fn taken_address_is_reported_before_limit() {
    let world = World::new().await;
    for _ in 0..MAX_ENDPOINTS {
        world.endpoint().await;
    }
    let vetted = world.receivers.vetted().len();
    let taken = world.store.endpoints()[3].url.clone();
    let refused = create(&world.ports, &world.account, at(taken)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::UrlTaken);
    let refused = create(&world.ports, &world.account, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::LimitReached);
    assert_eq!(world.receivers.vetted().len(), vetted, "a full account causes no name resolution");
    let inside = a_webhook_url();
    world.receivers.refuse(&inside, UrlRefusal::NotPublic);
    let refused = create(&world.ports, &world.account, at(inside)).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Url(UrlRefusal::NotPublic), "the URL is checked before the limit");
}

/// A cipher that cannot encrypt.
struct Leaky;

impl SecretCipher for Leaky {
    fn encrypt(&self, _owner: &str, _secret: &SigningSecret) -> Result<SealedSecret, EncryptError> {
        Err(EncryptError)
    }

    fn decrypt(&self, _owner: &str, _sealed: &SealedSecret) -> Result<SigningSecret, DecryptError> {
        Err(DecryptError)
    }
}

#[tokio::test]
async fn secret_that_cannot_be_encrypted_is_not_stored() {
    let world = World::new().await;
    let before = world.endpoint().await;
    let ports = Ports { secret_cipher: Arc::new(Leaky), ..world.ports.clone() };
    let trouble = StoreError::Internal(EncryptError.to_string());
    let refused = create(&ports, &world.account, at(a_webhook_url())).await.unwrap_err();
    assert_eq!(refused, CreateEndpointError::Store(trouble.clone()));
    let refused = rotate(&ports, &world.account, before.id, 0).await.unwrap_err();
    assert_eq!(refused, WriteEndpointError::Store(trouble));
    assert_eq!(world.store.endpoints(), [before]);
}

#[tokio::test]
async fn deleted_endpoint_frees_its_slot_and_address() {
    let world = World::new().await;
    for _ in 0..MAX_ENDPOINTS {
        world.endpoint().await;
    }
    let gone = world.store.endpoints()[7].clone();
    delete(&world.ports, &world.account, gone.id).await.unwrap();
    let again = delete(&world.ports, &world.account, gone.id).await;
    assert_eq!(again, Err(WriteEndpointError::NotFound));

    let (new, _) = create(&world.ports, &world.account, at(gone.url.clone())).await.unwrap();
    assert_eq!((new.slot, new.url), (gone.slot, gone.url));
    assert_ne!(new.id, gone.id);
}

#[tokio::test]
async fn foreign_endpoint_is_not_found() {
    let world = World::new().await;
    let endpoint = world.endpoint().await;
    let refused = delete(&world.ports, &an_account(), endpoint.id).await;
    assert_eq!(refused, Err(WriteEndpointError::NotFound));
    assert!(world.stored(endpoint.id).await.is_active());
}

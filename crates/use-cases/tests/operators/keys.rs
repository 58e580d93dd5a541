//! Operators create, list and revoke API keys. Callers authenticate with keys.

use std::time::Duration;

use cais_domain::merchant::api_key::{ApiKeyToken, KeyPrefix, Scope, Scopes};
use cais_ports::KeyQueries as _;
use cais_use_cases::accounts::ChangeAccountError;
use cais_use_cases::keys::create::{
    CreateKey, CreateKeyError, CreatedKey, MAX_ADDRESS_BLOCKS, MAX_EXPIRES_IN_DAYS, create,
};
use cais_use_cases::keys::revoke::{RevokeKeyError, revoke};
use cais_use_cases::keys::{AuthenticateError, KeyRefusal, KeyRing, list};

use crate::bed::{EMAIL, TestBed, email, name, operator};

fn command() -> CreateKey {
    CreateKey {
        email: email(EMAIL),
        name: name("till"),
        scopes: Scopes::parse("charges:read").unwrap(),
        expires_in_days: None,
        allowed_addresses: Vec::new(),
    }
}

async fn made(bed: &TestBed, command: CreateKey) -> CreatedKey {
    create(&bed.ports, &operator(), command).await.unwrap()
}

async fn recognized(bed: &TestBed, token: &ApiKeyToken, from: Option<&str>) -> bool {
    refusal(bed, token, from).await.is_none()
}

async fn refusal(bed: &TestBed, token: &ApiKeyToken, from: Option<&str>) -> Option<KeyRefusal> {
    let from = from.map(|address| address.parse().unwrap());
    let ring = KeyRing::new(bed.ports.clone());
    assert_eq!(ring.recognize(token, from), None, "the key ring is empty");
    match ring.authenticate(token, from).await {
        Ok(caller) => {
            assert_eq!(ring.recognize(token, from), Some(caller));
            None
        }
        Err(AuthenticateError::InvalidKey(reason)) => {
            assert_eq!(ring.recognize(token, from), None);
            Some(reason)
        }
        Err(AuthenticateError::Unavailable(error)) => unreachable!("{error}"),
    }
}

#[tokio::test]
async fn refusal_of_a_key_names_its_reason() {
    let bed = TestBed::with_account().await;
    let allowed_addresses = vec!["203.0.113.0/24".parse().unwrap()];
    let command = CreateKey { allowed_addresses, expires_in_days: Some(1), ..command() };
    let (key, other) = (made(&bed, command.clone()).await, made(&bed, command).await);
    let (here, elsewhere) = (Some("203.0.113.1"), Some("203.0.114.1"));
    let unknown = ApiKeyToken { prefix: KeyPrefix::parse("000000000000").unwrap(), ..key.token.clone() };
    let crossed = ApiKeyToken { prefix: key.token.prefix.clone(), ..other.token.clone() };
    assert_eq!(refusal(&bed, &key.token, here).await, None);
    assert_eq!(refusal(&bed, &unknown, here).await, Some(KeyRefusal::Unknown));
    assert_eq!(refusal(&bed, &crossed, here).await, Some(KeyRefusal::WrongSecret));
    assert_eq!(refusal(&bed, &key.token, elsewhere).await, Some(KeyRefusal::AddressNotAllowed));
    revoke(&bed.ports, &operator(), &other.record.prefix).await.unwrap();
    assert_eq!(refusal(&bed, &other.token, here).await, Some(KeyRefusal::Revoked));
    bed.clock.advance(Duration::from_hours(24));
    assert_eq!(refusal(&bed, &key.token, here).await, Some(KeyRefusal::Expired));
}

#[tokio::test]
async fn new_key_authenticates_and_its_secret_is_not_stored() {
    let bed = TestBed::with_account().await;
    let key = made(&bed, command()).await;
    let token = ApiKeyToken::parse(&key.token.expose()).unwrap();
    let caller = KeyRing::new(bed.ports.clone()).authenticate(&token, None).await.unwrap();
    assert_eq!((caller.account.email.as_str(), caller.scopes.contains(Scope::ChargesWrite)), (EMAIL, false));
    let (stored, _) = bed.store.find_key(&key.record.prefix).await.unwrap().unwrap();
    assert_eq!(stored, key.record);
    assert!(!format!("{stored:?}").contains(key.token.secret.expose()));
}

#[tokio::test]
async fn new_keys_are_unique() {
    let bed = TestBed::with_account().await;
    let (one, other) = (made(&bed, command()).await, made(&bed, command()).await);
    assert_ne!(one.token.prefix, other.token.prefix);
    assert_ne!(one.token.secret.expose(), other.token.secret.expose());
    let crossed = ApiKeyToken { prefix: one.token.prefix, secret: other.token.secret };
    assert!(!recognized(&bed, &crossed, None).await);
}

#[tokio::test]
async fn key_expires_after_its_days() {
    let bed = TestBed::with_account().await;
    let key = made(&bed, CreateKey { expires_in_days: Some(1), ..command() }).await;
    bed.clock.advance(Duration::from_secs(24 * 3_600 - 1));
    assert!(recognized(&bed, &key.token, None).await);
    bed.clock.advance(Duration::from_secs(1));
    assert!(!recognized(&bed, &key.token, None).await);
}

#[tokio::test]
async fn key_from_other_address_is_refused() {
    let bed = TestBed::with_account().await;
    let allowed_addresses = vec!["203.0.113.9/24".parse().unwrap(), "2001:db8::1/128".parse().unwrap()];
    let key = made(&bed, CreateKey { allowed_addresses, ..command() }).await;
    assert_eq!(key.record.allowed_addresses, ["203.0.113.0/24", "2001:db8::1/128"]);
    for (from, expected) in
        [(Some("203.0.113.1"), true), (Some("2001:db8::1"), true), (Some("203.0.114.1"), false), (None, false)]
    {
        assert_eq!(recognized(&bed, &key.token, from).await, expected, "{from:?}");
    }
}

#[tokio::test]
async fn key_outside_limits_is_refused() {
    let bed = TestBed::with_account().await;
    for days in [0, MAX_EXPIRES_IN_DAYS + 1] {
        let refused = create(&bed.ports, &operator(), CreateKey { expires_in_days: Some(days), ..command() }).await;
        assert_eq!(refused.unwrap_err(), CreateKeyError::WrongExpiry);
    }
    let allowed_addresses = vec!["10.0.0.0/8".parse().unwrap(); MAX_ADDRESS_BLOCKS + 1];
    let refused = create(&bed.ports, &operator(), CreateKey { allowed_addresses, ..command() }).await;
    assert_eq!(refused.unwrap_err(), CreateKeyError::TooManyAddresses);
    let stranger = create(&bed.ports, &operator(), CreateKey { email: email("no@example.com"), ..command() }).await;
    assert_eq!(stranger.unwrap_err(), CreateKeyError::Account(ChangeAccountError::NotFound(email("no@example.com"))));
}

#[tokio::test]
async fn revoked_key_stays_revoked() {
    let bed = TestBed::with_account().await;
    let key = made(&bed, command()).await;
    let ring = KeyRing::new(bed.ports.clone());
    ring.authenticate(&key.token, None).await.unwrap();
    let revoked = revoke(&bed.ports, &operator(), &key.record.prefix).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    ring.forget(&key.record.prefix);
    assert_eq!(
        ring.authenticate(&key.token, None).await.unwrap_err(),
        AuthenticateError::InvalidKey(KeyRefusal::Revoked)
    );
    bed.clock.advance(Duration::from_mins(1));
    assert_eq!(revoke(&bed.ports, &operator(), &key.record.prefix).await.unwrap(), revoked);
    let unknown = KeyPrefix::parse("000000000000").unwrap();
    assert_eq!(revoke(&bed.ports, &operator(), &unknown).await.unwrap_err(), RevokeKeyError::NotFound(unknown));
}

#[tokio::test]
async fn keys_are_listed_newest_first() {
    let bed = TestBed::with_account().await;
    let (one, other) = (made(&bed, command()).await, made(&bed, command()).await);
    let keys = list::list(&bed.ports, &email(EMAIL)).await.unwrap();
    assert_eq!(keys, [other.record, one.record]);
}

//! Tests API keys: their format, their randomness, their scopes, and that the secret is masked.

use std::collections::HashSet;

use cais_domain::merchant::api_key::{ApiKeyToken, KeyPrefix, KeySecret, Scope, ScopeError, Scopes};
use proptest::prelude::*;

const SECRET: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg";

#[test]
fn key_is_parsed_and_secret_hidden() {
    let text = format!("key_abcDEF012345_{SECRET}");
    let token = ApiKeyToken::parse(&text).unwrap();
    assert_eq!((token.prefix.as_str(), token.secret.expose()), ("abcDEF012345", SECRET));
    assert_eq!(token.expose(), text);
    assert!(!format!("{token:?}").contains("0123456789ABC"));
}

#[test]
fn key_of_other_format_is_refused() {
    for text in [
        String::new(),
        "key_".to_owned(),
        format!("key_abcDEF01234_{SECRET}"),
        format!("key_abcDEF0123456_{SECRET}"),
        format!("key_abcDEF012345_{SECRET}h"),
        format!("key_abcDEF012345_{}", &SECRET[1..]),
        format!("KEY_abcDEF012345_{SECRET}"),
        format!("abcDEF012345_{SECRET}"),
        format!("key_abcDEF01234-_{SECRET}"),
        format!("key_abcDEF012345_{}_", &SECRET[1..]),
        format!("key_abcDEF01234é_{SECRET}"),
        format!("key_abcDEF012345_{SECRET} "),
    ] {
        assert!(ApiKeyToken::parse(&text).is_err(), "{text}");
    }
}

#[test]
fn random_bytes_become_known_characters() {
    assert_eq!(KeyPrefix::from_random(&[0; 12]).as_str(), "000000000000");
    assert_eq!(KeyPrefix::from_random(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 62]).as_str(), "000000000010");
    assert_eq!(KeySecret::from_random(&[0; 32]).expose(), "0".repeat(43));
    // 2^256 - 1 in base62, computed independently.
    assert_eq!(KeySecret::from_random(&[0xff; 32]).expose(), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
}

#[test]
fn scopes_are_a_set() {
    let names: HashSet<_> = Scope::ALL.into_iter().map(Scope::as_str).collect();
    assert_eq!(names.len(), 13);
    for scope in Scope::ALL {
        assert_eq!(Scope::parse(scope.as_str()), Some(scope));
        let only = Scopes::parse(scope.as_str()).unwrap();
        assert_eq!(only.iter().collect::<Vec<_>>(), [scope]);
        assert!(Scope::ALL.into_iter().all(|other| only.contains(other) == (other == scope)));
    }
    assert_eq!(Scopes::parse("all").unwrap(), Scopes::all());
    assert_eq!(Scopes::all().iter().collect::<Vec<_>>(), Scope::ALL);
    assert_eq!(Scopes::parse(&Scopes::all().to_string()), Ok(Scopes::all()));
    assert_eq!(
        Scopes::parse("events:read, charges:read,charges:read").unwrap().to_string(),
        "charges:read,events:read"
    );
    assert_eq!(Scopes::parse(" "), Err(ScopeError::Empty));
    assert_eq!(Scopes::parse("charges:read,"), Err(ScopeError::Unknown(String::new())));
    assert_eq!(Scopes::parse("all,charges:read"), Err(ScopeError::Unknown("all".to_owned())));
    assert!(Scopes::default().is_empty());
}

proptest! {
    #[test]
    fn every_bit_of_a_secret_counts(bytes in any::<[u8; 32]>(), bit in 0_usize..256) {
        let mut other = bytes;
        if let Some(byte) = other.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        let (a, b) = (KeySecret::from_random(&bytes), KeySecret::from_random(&other));
        prop_assert_ne!(a.expose(), b.expose());
    }

    #[test]
    fn composed_keys_read_back(prefix in any::<[u8; 12]>(), secret in any::<[u8; 32]>()) {
        let token = ApiKeyToken { prefix: KeyPrefix::from_random(&prefix), secret: KeySecret::from_random(&secret) };
        let read = ApiKeyToken::parse(&token.expose()).unwrap();
        prop_assert_eq!(read.expose(), token.expose());
    }
}

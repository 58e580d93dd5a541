//! Tests Pix keys: the accepted texts and the normal form of each kind. No kind is guessed.

use cais_domain::document::DocumentError;
use cais_domain::pix_key::{PixKey, PixKeyError, PixKeyType};
use proptest::prelude::*;

#[test]
fn kind_and_normal_form_are_found() {
    for (text, kind, normal) in [
        ("12345678909", PixKeyType::Cpf, "12345678909"),
        ("123.456.789-09", PixKeyType::Cpf, "12345678909"),
        ("11987654374", PixKeyType::Cpf, "11987654374"),
        ("11.222.333/0001-81", PixKeyType::Cnpj, "11222333000181"),
        ("12.abc.345/01de-35", PixKeyType::Cnpj, "12ABC34501DE35"),
        ("Fulano.Tal+x@Example.COM", PixKeyType::Email, "fulano.tal+x@example.com"),
        ("fail@sandbox.cais", PixKeyType::Email, "fail@sandbox.cais"),
        ("a@b", PixKeyType::Email, "a@b"),
        ("+55 (11) 98765-4321", PixKeyType::Phone, "+5511987654321"),
        ("+55.11.98765.4321", PixKeyType::Phone, "+5511987654321"),
        ("+14155552671", PixKeyType::Phone, "+14155552671"),
        ("123E4567-E12B-12D1-A456-426655440000", PixKeyType::Evp, "123e4567-e12b-12d1-a456-426655440000"),
    ] {
        let key = PixKey::parse(text).expect(text);
        assert_eq!((key.key_type(), key.as_str()), (kind, normal), "{text}");
        assert_eq!(PixKey::parse_as(text, kind), Ok(key.clone()), "{text}");
        assert_eq!(PixKey::parse(normal), Ok(key), "{text}");
    }
}

#[test]
fn digits_never_become_a_phone() {
    for text in ["11987654321", "(11) 98765-4321", "11 98765 4321", "5511987654321", "1133334444", "55 11 98765-4321"] {
        assert_eq!(PixKey::parse(text), Err(PixKeyError::PhoneWithoutPlus), "{text}");
    }
    assert!(PixKeyError::PhoneWithoutPlus.to_string().contains("+55"));
    assert_eq!(PixKey::parse_as("11987654321", PixKeyType::Cpf), Err(PixKeyError::PhoneWithoutPlus));
    assert_eq!(PixKey::parse_as("11987654374", PixKeyType::Phone), Err(PixKeyError::Phone));
    // Area code 20 is not in use. In the second number, the third digit is not 9.
    for text in ["20987654321", "12345678908"] {
        assert_eq!(PixKey::parse(text), Err(PixKeyError::Cpf(DocumentError::WrongCheckDigits)), "{text}");
    }
}

#[test]
fn key_outside_directory_rules_is_refused() {
    for (text, error) in [
        ("", PixKeyError::Unrecognized),
        ("hello", PixKeyError::Unrecognized),
        ("11222333000182", PixKeyError::Cnpj(DocumentError::WrongCheckDigits)),
        ("@example.com", PixKeyError::Email),
        ("a@", PixKeyError::Email),
        ("a@b@c", PixKeyError::Email),
        ("a b@c.d", PixKeyError::Email),
        ("a%b@c.d", PixKeyError::Email),
        ("joão@c.d", PixKeyError::Email),
        ("a@-b.c", PixKeyError::Email),
        ("a@b-.c", PixKeyError::Email),
        ("a@b..c", PixKeyError::Email),
        ("a@b_c.d", PixKeyError::Email),
        ("a@b.c\n", PixKeyError::Email),
        ("+0511987654321", PixKeyError::Phone),
        ("+1", PixKeyError::Phone),
        ("+1234567890123456", PixKeyError::Phone),
        ("55+11987654321", PixKeyError::Phone),
        ("++5511987654321", PixKeyError::Phone),
        ("+55", PixKeyError::Phone),
        ("+551199", PixKeyError::Phone),
        ("+5520987654321", PixKeyError::Phone),
        ("+5511887654321", PixKeyError::Phone),
        ("+55119a7654321", PixKeyError::Phone),
        ("123e4567e12b12d1a456426655440000", PixKeyError::Evp),
        ("123e4567-e12b-12d1-a456-42665544000g", PixKeyError::Evp),
        ("{123e4567-e12b-12d1-a456-426655440000}", PixKeyError::Unrecognized),
    ] {
        assert_eq!(PixKey::parse(text), Err(error), "{text}");
    }
    let label = "b".repeat(63);
    assert!(PixKey::parse(&format!("{}@{label}", "a".repeat(13))).is_ok());
    assert_eq!(PixKey::parse(&format!("{}@{label}", "a".repeat(14))), Err(PixKeyError::TooLong));
    assert_eq!(PixKey::parse(&format!("a@{label}b")), Err(PixKeyError::Email));
}

#[test]
fn given_kind_is_binding() {
    let samples = ["12345678909", "11222333000181", "a@b.c", "+5511987654321", "123e4567-e12b-12d1-a456-426655440000"];
    for (kind, own) in PixKeyType::ALL.into_iter().zip(samples) {
        for text in samples {
            assert_eq!(PixKey::parse_as(text, kind).is_ok(), text == own, "{text} as {kind}");
        }
        assert_eq!(PixKeyType::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(PixKeyType::parse("CPF"), None);
}

proptest! {
    #[test]
    fn normal_form_is_stable_and_short(text in "[a-zA-Z0-9.]{1,20}@[a-z0-9]{1,10}\\.[a-z]{2,3}|\\+[ ()0-9.-]{2,20}|[0-9]{11}|[0-9A-Z]{12}[0-9]{2}|.{0,90}") {
        if let Ok(key) = PixKey::parse(&text) {
            prop_assert!(key.as_str().len() <= 77);
            prop_assert_eq!(PixKey::parse(key.as_str()), Ok(key.clone()));
            prop_assert_eq!(PixKey::parse_as(key.as_str(), key.key_type()), Ok(key));
        }
    }
}

//! Tests how texts are changed or refused when a code is written.

use cais_domain::br_code::{BrCode, BrCodeError, DynamicCode, StaticCode};
use cais_domain::money::Money;

use super::plain;

#[test]
fn written_texts_are_folded() {
    let code = StaticCode {
        info: Some("Nº 42 – maçã".to_owned()),
        merchant_name: "João & Irmãos  (Comércio) de Pães Ltda".to_owned(),
        merchant_city: "São José do Rio Preto".to_owned(),
        ..plain()
    };
    let Ok(BrCode::Static(read)) = BrCode::parse(&code.write().unwrap()) else {
        unreachable!("a static code was written")
    };
    assert_eq!(read.merchant_name, "Joao Irmaos Comercio de P");
    assert_eq!(read.merchant_city, "Sao Jose do Rio");
    assert_eq!(read.info.as_deref(), Some("No 42 maca"));
}

#[test]
fn invalid_static_code_is_not_written() {
    let check = |change: fn(&mut StaticCode), error| {
        let mut code = plain();
        change(&mut code);
        assert_eq!(code.write(), Err(error), "{code:?}");
    };
    let invalid = |field| BrCodeError::Invalid { field };
    let missing = |field| BrCodeError::Missing { field };
    let too_long = |field, max| BrCodeError::TooLong { field, max };

    check(|code| code.merchant_name = "北京".to_owned(), missing("59"));
    check(|code| code.merchant_city = " ".to_owned(), missing("60"));
    check(|code| code.amount = Some(Money::ZERO), invalid("54"));
    check(|code| code.amount = Some(Money::from_centavos(-1)), invalid("54"));
    check(|code| code.amount = Some(Money::from_centavos(1_000_000_000_000)), too_long("54", 13));
    check(|code| code.txid = Some("A".repeat(26)), too_long("05", 25));
    check(|code| code.txid = Some("a-b".to_owned()), invalid("05"));
    check(|code| code.txid = Some(String::new()), invalid("05"));
    check(|code| code.info = Some("A".repeat(63)), too_long("02", 62));
    check(|code| code.postal_code = Some("0455-300".to_owned()), invalid("61"));
    let longest = StaticCode { info: Some("A".repeat(62)), ..plain() };
    assert!(longest.write().is_ok());
}

#[test]
fn dynamic_code_without_plain_address_is_not_written() {
    let code = |location: &str| DynamicCode {
        location: location.to_owned(),
        single_use: true,
        amount: None,
        merchant_name: "A".to_owned(),
        merchant_city: "B".to_owned(),
        postal_code: None,
    };
    let text = code("pix.example.com/qr/1").write().unwrap();
    assert!(text.starts_with("000201010212") && text.contains("62070503***"), "{text}");
    for location in ["", "https://pix.example.com/1", "pix.example.com/a b", "pix.example.com/é"] {
        let error = BrCodeError::Invalid { field: "25" };
        assert_eq!(code(location).write(), Err(error), "{location}");
    }
    let error = BrCodeError::TooLong { field: "25", max: 77 };
    assert_eq!(code(&"a".repeat(78)).write(), Err(error));
}

//! Tests tax numbers: check digits, punctuation and letters.

use cais_domain::document::{Cnpj, Cpf, Document, DocumentError};
use proptest::prelude::*;

#[test]
fn valid_tax_numbers_are_accepted_and_formatted() {
    for text in ["12345678909", "52998224725", "11144477735", "57946663234", "11987654374"] {
        assert_eq!(Cpf::parse(text).unwrap().as_str(), text);
    }
    for text in [
        "12ABC34501DE35",
        "1A2B3C4D000179",
        "00ABCDEF000157",
        "ABCDEFGHIJKL80",
        "ZZZZZZZZZZZZ62",
        "11222333000181",
        "12345678000195",
        "09089356000118",
        "00000000000191",
    ] {
        assert_eq!(Cnpj::parse(text).unwrap().as_str(), text);
        assert_eq!(Cnpj::parse(&text.to_lowercase()).unwrap().as_str(), text);
    }
    for (text, bare, formatted, masked) in [
        ("123.456.789-09", "12345678909", "123.456.789-09", "***.456.789-**"),
        ("12.abc.345/01de-35", "12ABC34501DE35", "12.ABC.345/01DE-35", "**.ABC.345/****-**"),
    ] {
        let document = Document::parse(text).unwrap();
        assert_eq!(
            (document.as_str(), document.formatted().as_str(), document.masked().as_str()),
            (bare, formatted, masked)
        );
        assert_eq!(Document::parse(document.as_str()), Ok(document));
    }
}

#[test]
fn invalid_tax_numbers_are_refused() {
    for digit in 0..10 {
        assert_eq!(Document::parse(&digit.to_string().repeat(11)), Err(DocumentError::AllEqual));
        assert_eq!(Document::parse(&digit.to_string().repeat(14)), Err(DocumentError::AllEqual));
    }
    for (text, error) in [
        ("12345678908", DocumentError::WrongCheckDigits),
        ("12345678919", DocumentError::WrongCheckDigits),
        ("12ABC34501DE36", DocumentError::WrongCheckDigits),
        ("11222333000191", DocumentError::WrongCheckDigits),
        ("1234567890A", DocumentError::WrongCharacter),
        ("12ABC34501DEA5", DocumentError::WrongCharacter),
        ("12ABC34501D*35", DocumentError::WrongCharacter),
        ("１２３４５６７８９０９", DocumentError::WrongCharacter),
        ("1234567890", DocumentError::WrongLength),
        ("123456789012", DocumentError::WrongLength),
        ("", DocumentError::WrongLength),
        (".-/", DocumentError::WrongLength),
    ] {
        assert_eq!(Document::parse(text), Err(error), "{text}");
    }
    assert_eq!(Cpf::parse("11222333000181"), Err(DocumentError::WrongLength));
    assert_eq!(Cnpj::parse("12345678909"), Err(DocumentError::WrongLength));
}

proptest! {
    #[test]
    fn every_cpf_body_has_one_pair_of_check_digits(body in "[0-9]{9}") {
        let valid = (0..100).filter(|check| Cpf::parse(&format!("{body}{check:02}")).is_ok()).count();
        let all_equal = body.chars().all(|digit| body.starts_with(digit));
        prop_assert_eq!(valid, usize::from(!all_equal));
    }

    #[test]
    fn every_cnpj_body_has_one_pair_of_check_digits(body in "[0-9A-Z]{12}") {
        let valid = (0..100).filter(|check| Cnpj::parse(&format!("{body}{check:02}")).is_ok()).count();
        prop_assert_eq!(valid, 1);
    }

    #[test]
    fn no_text_panics(text in ".{0,30}") {
        let _ = Document::parse(&text);
    }
}

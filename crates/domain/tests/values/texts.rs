//! Tests texts of a request: their length in characters, and that control characters are refused.

use cais_domain::external_id::ExternalId;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::text::{LineBreaks, Text, TextError};

#[test]
fn text_counts_characters_and_refuses_controls() {
    let control = Err(TextError::ControlCharacter);
    for (text, line_breaks, expected) in [
        ("", LineBreaks::Refused, Ok(())),
        ("ação", LineBreaks::Refused, Ok(())),
        ("ações", LineBreaks::Refused, Err(TextError::TooLong { max_chars: 4 })),
        ("🦀🦀🦀🦀", LineBreaks::Refused, Ok(())),
        ("a\nb", LineBreaks::Refused, control),
        ("a\nb", LineBreaks::Allowed, Ok(())),
        ("a\r\nb", LineBreaks::Allowed, Ok(())),
        ("a\0b", LineBreaks::Allowed, control),
        ("a\tb", LineBreaks::Allowed, control),
        ("a\u{7f}", LineBreaks::Allowed, control),
        ("a\u{85}", LineBreaks::Allowed, control),
    ] {
        assert_eq!(Text::parse(text, 4, line_breaks).map(|read| assert_eq!(read.as_str(), text)), expected, "{text:?}");
    }
}

#[test]
fn external_ids_have_1_to_120_characters() {
    for (text, valid) in [
        (String::new(), false),
        ("é".repeat(120), true),
        ("é".repeat(121), false),
        ("a\0".to_owned(), false),
        ("a\nb".to_owned(), false),
        ("order 1/ä".to_owned(), true),
    ] {
        assert_eq!(ExternalId::parse(&text).is_ok(), valid, "{text:?}");
    }
}

#[test]
fn idempotency_keys_have_8_to_255_visible_characters() {
    for (text, valid) in [
        ("a".repeat(7), false),
        ("a".repeat(8), true),
        ("!~abc-_/".to_owned(), true),
        ("a".repeat(255), true),
        ("a".repeat(256), false),
        ("abcd efgh".to_owned(), false),
        ("abcdefgé".to_owned(), false),
        ("abcdefg\u{7f}".to_owned(), false),
        ("abcdefg\t".to_owned(), false),
    ] {
        assert_eq!(IdempotencyKey::parse(&text).is_ok(), valid, "{text:?}");
    }
}

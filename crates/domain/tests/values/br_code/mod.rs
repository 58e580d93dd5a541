//! Tests BR Codes: vectors of the Central Bank and of real institutions, lenient parsing, and strict writing.

mod read;
mod vectors;
mod write;

use cais_domain::br_code::{BrCode, DynamicCode, StaticCode, crc16};
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use proptest::prelude::*;

const SAMPLE: &str = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D";

/// Returns the code with its checksum field.
fn sealed(body: &str) -> String {
    let covered = format!("{body}6304");
    let crc = crc16(covered.as_bytes());
    format!("{covered}{crc:04X}")
}

fn plain() -> StaticCode {
    StaticCode {
        key: PixKey::parse("12345678909").unwrap(),
        info: None,
        amount: None,
        merchant_name: "A".to_owned(),
        merchant_city: "B".to_owned(),
        postal_code: None,
        txid: None,
    }
}

fn keys() -> impl Strategy<Value = PixKey> {
    prop_oneof![
        Just("12345678909".to_owned()),
        Just("12ABC34501DE35".to_owned()),
        "[a-z0-9.+-]{1,60}@[a-z]{1,10}\\.br",
        "\\+[1-9][0-9]{1,14}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ]
    .prop_filter_map("no key", |text| PixKey::parse(&text).ok())
}

proptest! {
    #[test]
    fn static_codes_read_back(
        key in keys(),
        amount in proptest::option::of(1_i64..=99_999_999_999),
        merchant_name in "[A-Za-z0-9$%*+./:-]{1,25}",
        merchant_city in "[A-Z]{1,7} [A-Z]{1,7}",
        postal_code in proptest::option::of("[0-9]{8}"),
        txid in proptest::option::of("[A-Za-z0-9]{1,25}"),
    ) {
        let code = StaticCode { key, info: None, amount: amount.map(Money::from_centavos), merchant_name, merchant_city, postal_code, txid };
        prop_assert_eq!(BrCode::parse(&code.write().unwrap()), Ok(BrCode::Static(code)));
    }

    #[test]
    fn dynamic_codes_read_back(
        location in "[a-z.]{3,20}/[A-Za-z0-9/-]{1,56}",
        single_use in any::<bool>(),
        amount in proptest::option::of(1_i64..=99_999_999_999),
        merchant_name in "[A-Za-z0-9$%*+./:-]{1,25}",
        merchant_city in "[A-Z]{1,15}",
    ) {
        let code = DynamicCode { location, single_use, amount: amount.map(Money::from_centavos), merchant_name, merchant_city, postal_code: None };
        prop_assert_eq!(BrCode::parse(&code.write().unwrap()), Ok(BrCode::Dynamic(code)));
    }

    #[test]
    fn written_code_of_any_texts_is_readable(name in ".{0,40}", city in ".{0,40}", info in ".{0,80}") {
        let code = StaticCode { merchant_name: name, merchant_city: city, info: Some(info), ..plain() };
        if let Ok(text) = code.write() {
            prop_assert!(text.is_ascii() && BrCode::parse(&text).is_ok(), "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,120}", body in "(([0-9]{2}0[0-9])?[a-z0-9é]{0,8}){0,12}") {
        let _ = BrCode::parse(&text);
        let _ = BrCode::parse(&sealed(&body));
        let _ = BrCode::parse(&sealed(&format!("000201{body}")));
    }

    #[test]
    fn code_with_one_changed_character_is_refused(position in 0_usize..SAMPLE.len(), character in "[0-9A-Za-z]") {
        let mut text = SAMPLE.to_owned();
        text.replace_range(position..=position, &character);
        let same = text.eq_ignore_ascii_case(SAMPLE) && text[..text.len() - 4] == SAMPLE[..SAMPLE.len() - 4];
        prop_assert_eq!(BrCode::parse(&text).is_ok(), same, "{}", text);
    }
}

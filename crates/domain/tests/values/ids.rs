//! Tests identifiers: the encoding of the `TypeID` specification, strict parsing, and the order by time.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::{CashInId, ChargeId, Id, IdError, IdKind};
use cais_domain::txid::Txid;
use proptest::prelude::*;
use uuid::Uuid;

enum Prefixed {}

impl IdKind for Prefixed {
    const PREFIX: &'static str = "prefix";
}

#[test]
fn ids_match_the_published_vectors() {
    for (uuid, suffix) in [
        ("00000000-0000-0000-0000-000000000000", "00000000000000000000000000"),
        ("00000000-0000-0000-0000-000000000001", "00000000000000000000000001"),
        ("00000000-0000-0000-0000-00000000000a", "0000000000000000000000000a"),
        ("00000000-0000-0000-0000-000000000010", "0000000000000000000000000g"),
        ("00000000-0000-0000-0000-000000000020", "00000000000000000000000010"),
        ("ffffffff-ffff-ffff-ffff-ffffffffffff", "7zzzzzzzzzzzzzzzzzzzzzzzzz"),
        ("0110c853-1d09-52d8-d73e-1194e95b5f19", "0123456789abcdefghjkmnpqrs"),
        ("01890a5d-ac96-774b-bcce-b302099a8057", "01h455vb4pex5vsknk084sn02q"),
        ("0188bac7-4afa-78aa-bc3b-bd1eef28d881", "01h2xcejqtf2nbrexx3vqjhp41"),
    ] {
        let id = Id::<Prefixed>::new(Uuid::parse_str(uuid).unwrap());
        assert_eq!(id.suffix(), suffix);
        assert_eq!(id.to_string(), format!("prefix_{suffix}"));
        assert_eq!(Id::parse(&format!("prefix_{suffix}")), Ok(id));
    }
}

#[test]
fn inexact_id_is_refused() {
    let good = "01h455vb4pex5vsknk084sn02q";
    assert!(ChargeId::parse(&format!("chg_{good}")).is_ok());
    assert!(CashInId::parse(&format!("txn_in_{good}")).is_ok());
    let wrong_prefix = [
        good.to_owned(),
        format!("_{good}"),
        format!("pyt_{good}"),
        format!("CHG_{good}"),
        format!("chg{good}"),
        format!("chg-{good}"),
        format!(" chg_{good}"),
        String::new(),
        "chg".to_owned(),
    ];
    for text in wrong_prefix {
        assert_eq!(ChargeId::parse(&text), Err(IdError::WrongPrefix { expected: "chg" }), "{text}");
    }
    for suffix in [
        "",
        "01h455vb4pex5vsknk084sn02",
        "01h455vb4pex5vsknk084sn02qq",
        "01H455VB4PEX5VSKNK084SN02Q",
        "81h455vb4pex5vsknk084sn02q",
        "8zzzzzzzzzzzzzzzzzzzzzzzzz",
        "01h455vb4pex5vsknk084sn02i",
        "01h455vb4pex5vsknk084sn02l",
        "01h455vb4pex5vsknk084sn02o",
        "01h455vb4pex5vsknk084sn02u",
        "01h455vb4pex5vsknk084sn0-q",
        "01h455vb4pex5vsknk084sn02é",
        "_1h455vb4pex5vsknk084sn02q",
    ] {
        assert_eq!(ChargeId::parse(&format!("chg_{suffix}")), Err(IdError::WrongSuffix), "{suffix}");
    }
    assert!(CashInId::parse(&format!("txn_out_{good}")).is_err());
}

#[test]
fn charge_id_contains_its_instant_and_its_txid() {
    let id = ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").unwrap();
    assert_eq!(id.timestamp_ms(), 0x0189_0a5d_ac96);
    assert_eq!(ChargeId::PREFIX, "chg");
    let txid = Txid::of_charge(id);
    assert_eq!(txid.as_str(), "01h455vb4pex5vsknk084sn02q");
    assert_eq!(Txid::parse(txid.as_str()), Ok(txid));
}

#[test]
fn txids_and_end_to_end_ids_keep_to_length_and_alphabet() {
    for (length, valid) in [(25, false), (26, true), (35, true), (36, false)] {
        assert_eq!(Txid::parse(&"aZ9".repeat(12)[..length]).is_ok(), valid, "{length}");
    }
    assert!(Txid::parse("01h455vb4pex5vsknk084sn02-").is_err());
    for (length, valid) in [(31, false), (32, true), (33, false)] {
        assert_eq!(EndToEndId::parse(&"E9a".repeat(12)[..length]).is_ok(), valid, "{length}");
        assert_eq!(ReturnId::parse(&"D9a".repeat(12)[..length]).is_ok(), valid, "{length}");
    }
    assert!(EndToEndId::parse("E1234567820261120235912345678é").is_err());
}

#[test]
fn end_to_end_ids_are_composed_in_utc() {
    let at: jiff::Timestamp = "2026-11-20T22:59:59-03:00".parse().unwrap();
    assert_eq!(
        EndToEndId::compose("09089356", at, "abcDEF01234").unwrap().as_str(),
        "E09089356202611210159abcDEF01234"
    );
    assert_eq!(ReturnId::compose("09089356", at, "abcDEF01234").unwrap().as_str(), "D09089356202611210159abcDEF01234");
    for (ispb, tail) in [
        ("9089356", "abcDEF01234"),
        ("09089356", "abcDEF0123"),
        ("090893560", "abcDEF0123"),
        ("0908935-", "abcDEF01234"),
        ("09089356", "abcDEF0123_"),
    ] {
        assert!(EndToEndId::compose(ispb, at, tail).is_err());
    }
    assert!(EndToEndId::compose("09089356", jiff::Timestamp::MIN, "abcDEF01234").is_err());
}

proptest! {
    #[test]
    fn shown_value_parses_back(bits in any::<u128>()) {
        let id = ChargeId::new(Uuid::from_u128(bits));
        prop_assert_eq!(ChargeId::parse(&id.to_string()), Ok(id));
        prop_assert_eq!(ChargeId::from_suffix(&id.suffix()), Ok(id));
    }

    #[test]
    fn texts_sort_like_ids(a in any::<u128>(), b in any::<u128>()) {
        let (a, b) = (ChargeId::new(Uuid::from_u128(a)), ChargeId::new(Uuid::from_u128(b)));
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
    }

    #[test]
    fn parsed_id_is_canonical(text in "chg_[0-9a-z]{24,28}|.{0,40}") {
        if let Ok(id) = ChargeId::parse(&text) {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}

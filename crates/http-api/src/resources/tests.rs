//! Tests the bodies of resources byte for byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crypto;
mod infractions;
mod money_out;
mod rows;
mod webhooks;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{ChargeState, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::payment::UnexpectedReason;
use cais_domain::split::Split;
use cais_domain::text::{LineBreaks, Text};
use cais_domain::txid::Txid;
use cais_ports::Balances;
use jiff::Timestamp;

use super::values::{Page, page_of_json};
use super::*;
use crate::balance::Balance;

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn issued() -> Issued {
    Issued {
        acquirer: AcquirerName::parse("main").unwrap(),
        copy_paste: "00020126580014br.gov.bcb.pix".to_owned(),
        expires_at: instant("2026-01-02T13:00:00.999999Z"),
    }
}

fn settlement() -> Settlement {
    Settlement {
        paid_at: instant("2026-01-02T12:03:04.567891Z"),
        end_to_end_id: EndToEndId::parse("E1234567820260102120300000000001").unwrap(),
        parts: Vec::new(),
    }
}

fn charge(state: ChargeState) -> Charge {
    let id = ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").unwrap();
    Charge {
        id,
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap(),
        txid: Txid::of_charge(id),
        terms: ChargeTerms {
            amount: Money::from_centavos(1_050),
            fee: Money::from_centavos(60),
            description: Some(Text::parse("two \"lines\"\n\\ é \u{2028}", 140, LineBreaks::Allowed).unwrap()),
            payer_name: None,
            payer_document: None,
            expires_in_s: 3_600,
            external_id: Some(ExternalId::parse("a/\"b\"").unwrap()),
            postback: None,
            split: Split::NONE,
            origin: Origin::Api,
        },
        state,
        refunds: RefundTotals::default(),
        open_infractions: 0,
        created_at: instant("2026-01-02T12:00:00Z"),
        version: 1,
    }
}

fn check(state: ChargeState, status: &str, copy_paste: &str, end_to_end_id: &str, paid_at: &str, expires_at: &str) {
    let expected = format!(
        concat!(
            r#"{{"id":"chg_01h455vb4pex5vsknk084sn02q","txid":"01h455vb4pex5vsknk084sn02q","external_id":"a/\"b\"","#,
            r#""amount":10.50,"status":"{}","description":"two \"lines\"\n\\ é {}","#,
            r#""pix":{{"copy_paste":{},"qr_code_image":null}},"end_to_end_id":{},"paid_at":{},"expires_at":{},"#,
            r#""created_at":"2026-01-02T12:00:00.000Z"}}"#
        ),
        status, "\u{2028}", copy_paste, end_to_end_id, paid_at, expires_at
    );
    let rendered = String::from_utf8(JsonRenderer::new().charge(&charge(state))).unwrap();
    assert_eq!(rendered, expected);
}

#[test]
fn charge_has_the_contract_fields_in_every_state() {
    let (code, end) = (r#""00020126580014br.gov.bcb.pix""#, r#""2026-01-02T13:00:00.999Z""#);
    let (pix, paid_at) = (r#""E1234567820260102120300000000001""#, r#""2026-01-02T12:03:04.567Z""#);
    let at = instant("2026-01-03T00:00:00Z");
    check(ChargeState::Paid(issued(), settlement()), "paid", code, pix, paid_at, end);
    check(
        ChargeState::Refunded { issued: issued(), settlement: settlement(), at },
        "refunded",
        code,
        pix,
        paid_at,
        end,
    );
    check(ChargeState::Expired { issued: issued(), at }, "expired", code, "null", "null", end);
    check(ChargeState::Cancelled { issued: issued(), at }, "cancelled", code, "null", "null", end);
    let creating = ChargeState::Creating { acquirer: AcquirerName::parse("main").unwrap() };
    check(creating, "creating", "null", "null", "null", "null");
}

#[test]
fn pending_charge_shows_its_image() {
    let body = JsonRenderer::new().charge(&charge(ChargeState::Pending(issued())));
    let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let image = value.pointer("/pix/qr_code_image").unwrap().as_str().unwrap();
    assert!(image.starts_with("data:image/png;base64,iVBORw0KGgo"), "{image}");
    assert_eq!(value.pointer("/status").unwrap(), "pending");
}

#[test]
fn balance_total_excludes_money_in_transit() {
    let balances = Balances {
        available: Money::from_centavos(-5),
        pending: Money::from_centavos(1_050),
        blocked: Money::from_centavos(100),
        in_transit: Money::from_centavos(999),
    };
    let expected = r#"{"available_balance":-0.05,"pending_balance":10.50,"blocked_balance":1.00,"total_balance":11.45,"currency":"BRL"}"#;
    assert_eq!(String::from_utf8(to_json(&Balance::of(&balances).unwrap())).unwrap(), expected);
}

#[test]
fn unexpected_payment_has_its_fields() {
    let payment = UnexpectedPayment {
        end_to_end_id: settlement().end_to_end_id,
        amount: Money::from_centavos(5),
        reason: UnexpectedReason::Overpaid,
        charge: ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").unwrap(),
        received_at: instant("2026-01-02T12:03:04.567891Z"),
    };
    assert_eq!(
        String::from_utf8(JsonRenderer::new().unexpected_payment(&payment)).unwrap(),
        concat!(
            r#"{"end_to_end_id":"E1234567820260102120300000000001","amount":0.05,"reason":"overpaid","#,
            r#""charge_id":"chg_01h455vb4pex5vsknk084sn02q","received_at":"2026-01-02T12:03:04.567Z"}"#
        )
    );
}

#[test]
fn page_names_the_cursor_of_the_next_page() {
    let rows = [b"{}".to_vec(), b"{\"a\":1}".to_vec()];
    let text = |rows: &[Vec<u8>], next: Option<&str>| String::from_utf8(page_of_json(rows, next)).unwrap();
    assert_eq!(text(&rows, Some("chg_1")), r#"{"data":[{},{"a":1}],"has_more":true,"next_starting_after":"chg_1"}"#);
    assert_eq!(text(&[], None), r#"{"data":[],"has_more":false,"next_starting_after":null}"#);
    let typed = Page::new(vec![1, 2], Some("chg_1"));
    assert_eq!(to_json(&typed), br#"{"data":[1,2],"has_more":true,"next_starting_after":"chg_1"}"#);
}

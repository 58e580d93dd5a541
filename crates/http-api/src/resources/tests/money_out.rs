//! Tests payouts and refunds byte for byte.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::ids::{PayoutId, RefundId, RequestId};
use cais_domain::payout::{PayoutState, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::PixKey;
use cais_domain::refund::RefundState;

use super::*;

const PIX: &str = "E1234567820260102140000000000002";

fn sent(end_to_end_id: Option<&str>) -> Sent {
    Sent {
        acquirer: AcquirerName::parse("main").unwrap(),
        recorded_at: instant("2026-01-02T14:00:00Z"),
        end_to_end_id: end_to_end_id.map(|id| EndToEndId::parse(id).unwrap()),
    }
}

pub(super) fn payout(state: PayoutState, recipient: Recipient) -> Payout {
    Payout {
        id: PayoutId::parse("pyt_01h455vb4pex5vsknk084sn02r").unwrap(),
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap(),
        terms: PayoutTerms {
            amount: Money::from_centavos(1_000),
            fee: Money::from_centavos(50),
            pix_key: PixKey::parse("o'neil@example.com").unwrap(),
            recipient_document: None,
            description: Some(Text::parse("a \"b\"", 140, LineBreaks::Allowed).unwrap()),
            external_id: Some(ExternalId::parse("p/1").unwrap()),
            origin: Origin::Api,
        },
        recipient,
        returned: Money::ZERO,
        state,
        due_at: None,
        attempts: 0,
        created_at: instant("2026-01-02T14:00:00.000999Z"),
        version: 1,
    }
}

fn rendered(payout: &Payout) -> String {
    String::from_utf8(JsonRenderer::new().payout(payout)).unwrap()
}

fn check(state: PayoutState, recipient: Recipient, [status, name, document, pix, error, done]: [&str; 6]) {
    let expected = format!(
        concat!(
            r#"{{"id":"pyt_01h455vb4pex5vsknk084sn02r","external_id":"p/1","amount":10.00,"fee":0.50,"net_amount":10.00,"#,
            r#""gross_amount":10.50,"status":"{}","pix":{{"key":"o'neil@example.com","recipient_name":{},"recipient_document":{}}},"#,
            r#""description":"a \"b\"","end_to_end_id":{},"error_message":{},"created_at":"2026-01-02T14:00:00.000Z","completed_at":{}}}"#
        ),
        status, name, document, pix, error, done
    );
    assert_eq!(rendered(&payout(state, recipient)), expected);
}

#[test]
fn payout_has_the_contract_fields_in_every_state() {
    let ana = || Recipient { name: Some("Ana \"A\"".to_owned()), document: Some("***.982.247-**".to_owned()) };
    let (name, document, pix) = (r#""Ana \"A\"""#, r#""***.982.247-**""#, r#""E1234567820260102140000000000002""#);
    let (completed_at, at) = (instant("2026-01-02T14:00:01.25Z"), instant("2026-01-03T00:00:00Z"));
    let done = r#""2026-01-02T14:00:01.250Z""#;
    let no_recipient = Recipient::default;
    check(PayoutState::Processing(sent(None)), no_recipient(), ["processing", "null", "null", "null", "null", "null"]);
    check(PayoutState::Processing(sent(Some(PIX))), ana(), ["processing", name, document, pix, "null", "null"]);
    let completed = PayoutState::Completed { sent: sent(Some(PIX)), at: completed_at };
    check(completed, ana(), ["completed", name, document, pix, "null", done]);
    let reason = "no \"such\" account".to_owned();
    let failed = PayoutState::Failed { sent: sent(None), reason, at };
    check(failed, no_recipient(), ["failed", "null", "null", "null", r#""no \"such\" account""#, "null"]);
    let reversed = PayoutState::Reversed { sent: sent(Some(PIX)), completed_at, at };
    check(reversed, ana(), ["reversed", name, document, pix, "null", done]);
}

fn refund(state: RefundState) -> String {
    let refund = Refund {
        id: RefundId::parse("rfd_01h455vb4pex5vsknk084sn02s").unwrap(),
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap(),
        charge: ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").unwrap(),
        end_to_end_id: EndToEndId::parse(PIX).unwrap(),
        acquirer: AcquirerName::parse("main").unwrap(),
        amount: Money::from_centavos(5),
        of_charge: Money::from_centavos(5),
        reason: Some(Text::parse("two\nlines", 140, LineBreaks::Allowed).unwrap()),
        external_id: None,
        state,
        due_at: None,
        attempts: 0,
        created_at: instant("2026-01-02T15:00:00Z"),
        version: 1,
    };
    String::from_utf8(JsonRenderer::new().refund(&refund)).unwrap()
}

#[test]
fn refund_has_its_fields_in_every_state() {
    let expected = |status: &str, return_id: &str, done: &str| {
        format!(
            concat!(
                r#"{{"id":"rfd_01h455vb4pex5vsknk084sn02s","charge_id":"chg_01h455vb4pex5vsknk084sn02q","external_id":null,"#,
                r#""amount":0.05,"status":"{}","reason":"two\nlines","return_id":{},"#,
                r#""created_at":"2026-01-02T15:00:00.000Z","completed_at":{}}}"#
            ),
            status, return_id, done
        )
    };
    let return_id = || ReturnId::parse("D1234567820260102150000000000003").ok();
    let (at, named) = (instant("2026-01-02T15:00:01Z"), r#""D1234567820260102150000000000003""#);
    let processing = RefundState::Processing { recorded_at: at, return_id: None };
    assert_eq!(refund(processing), expected("processing", "null", "null"));
    let completed = RefundState::Completed { return_id: return_id(), at };
    assert_eq!(refund(completed), expected("completed", named, r#""2026-01-02T15:00:01.000Z""#));
    let failed = RefundState::Failed { return_id: return_id(), reason: "no".to_owned(), at };
    assert_eq!(refund(failed), expected("failed", named, "null"));
}

#[test]
fn insufficient_balance_is_rendered_like_other_failures() {
    let request = RequestId::parse("req_01h455vb4pex5vsknk084sn02q").unwrap();
    let expected = concat!(
        r#"{"success":false,"request_id":"req_01h455vb4pex5vsknk084sn02q","error":{"code":"insufficient_balance","#,
        r#""message":"Insufficient available balance: 103.50 needed, 98.00 available.","retryable":false}}"#
    );
    let (needed, available) = (Money::from_centavos(10_350), Money::from_centavos(9_800));
    let body = JsonRenderer::new().insufficient_balance(request, needed, available);
    assert_eq!(String::from_utf8(body).unwrap(), expected);
}

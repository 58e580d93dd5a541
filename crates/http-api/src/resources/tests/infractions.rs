//! Tests infractions byte for byte.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Defense, Infraction, InfractionState, Situation};

use super::infraction::{Infraction as Row, InfractionDetail};
use super::*;

fn infraction(state: InfractionState, defense: Option<Defense>) -> Infraction {
    Infraction {
        id: InfractionId::parse("inf_01h455vb4pex5vsknk084sn02w").unwrap(),
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").unwrap(),
        charge: ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").unwrap(),
        external_id: Some(ExternalId::parse("a/\"b\"").unwrap()),
        acquirer: AcquirerName::parse("main").unwrap(),
        upstream_id: "upstream".to_owned(),
        end_to_end_id: EndToEndId::parse("E1234567820260102120300000000001").unwrap(),
        reason: Some("she says \"no\"".to_owned()),
        situation: Situation::AccountTakeover,
        amount: Money::from_centavos(1_050),
        limit: Money::from_centavos(7),
        state,
        defense,
        deadline_at: Some(instant("2026-01-10T15:00:00Z")),
        review: None,
        alerted_h: Some(48),
        due_at: None,
        attempts: 3,
        opened_at: instant("2026-01-03T15:00:00.123999Z"),
        created_at: instant("2026-01-03T15:01:00Z"),
        version: 9,
    }
}

fn check(infraction: &Infraction, [status, resolved, submitted]: [&str; 3], [text, url]: [&str; 2]) {
    let common = format!(
        concat!(
            r#"{{"id":"inf_01h455vb4pex5vsknk084sn02w","external_id":"a/\"b\"","end_to_end_id":"E1234567820260102120300000000001","#,
            r#""reason":"she says \"no\"","reason_code":"ACCOUNT_TAKEOVER","amount":10.50,"status":"{}","#,
            r#""opened_at":"2026-01-03T15:00:00.123Z","deadline_at":"2026-01-10T15:00:00.000Z","resolved_at":{},"#,
            r#""defense_submitted_at":{}"#
        ),
        status, resolved, submitted
    );
    assert_eq!(String::from_utf8(to_json(&Row::from(infraction))).unwrap(), format!("{common}}}"));
    let whole = format!("{common},\"defense_text\":{text},\"defense_evidence_url\":{url}}}");
    assert_eq!(String::from_utf8(to_json(&InfractionDetail::from(infraction))).unwrap(), whole);
    assert_eq!(String::from_utf8(JsonRenderer::new().infraction(infraction)).unwrap(), whole);
}

#[test]
fn infraction_has_the_contract_fields_in_every_state() {
    let at = instant("2026-01-08T18:00:00Z");
    let none = ["null", "null"];
    check(&infraction(InfractionState::Open, None), ["open", "null", "null"], none);
    let defense = |submitted_at| Defense {
        text: Some(Text::parse("two\nlines", 2_000, LineBreaks::Allowed).unwrap()),
        evidence_url: Some(Text::parse("https://a.example/?\"", 500, LineBreaks::Refused).unwrap()),
        sent_at: at,
        submitted_at,
    };
    let texts = [r#""two\nlines""#, r#""https://a.example/?\"""#];
    check(&infraction(InfractionState::Open, Some(defense(None))), ["open", "null", "null"], texts);
    let shown = r#""2026-01-08T18:00:00.000Z""#;
    let reviewed = infraction(InfractionState::UnderReview { at }, Some(defense(Some(at))));
    check(&reviewed, ["under_review", "null", shown], texts);
    let theirs = Defense { text: None, evidence_url: None, sent_at: at, submitted_at: Some(at) };
    check(&infraction(InfractionState::Won { at }, Some(theirs)), ["won", shown, shown], none);
    let lost = InfractionState::Lost { returned: Money::ZERO, refunded: Money::ZERO, at };
    check(&infraction(lost, None), ["lost", shown, "null"], none);
    check(&infraction(InfractionState::Cancelled { at }, None), ["cancelled", shown, "null"], none);
}

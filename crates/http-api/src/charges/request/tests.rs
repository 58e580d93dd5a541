//! Tests the body of a request for a charge: every rule at its limit and just beyond.

use cais_domain::text::Text;
use cais_strict_json::read as read_json;

use super::*;

fn problems(body: &str) -> Vec<String> {
    let issues = Issues::default();
    let node = read_json(body.as_bytes(), &issues);
    let _new = NewCharge::read(&node, &issues);
    issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
}

#[test]
fn complete_charge_body_is_read() {
    let body = r#"{"amount":10.5,"description":"line\nline","payer_name":"Ana","payer_document":"123.456.789-09","expires_in":60,
        "external_id":"o-1","postback_url":"https://shop.example/hook",
        "split":[{"recipient_email":"A@x.Example","percentage":99.9999},{"recipient_email":"b@x.example","percentage":0.0001}]}"#;
    let issues = Issues::default();
    let node = read_json(body.as_bytes(), &issues);
    let charge = NewCharge::read(&node, &issues);
    assert!(issues.is_empty(), "{issues:?}");
    let terms = charge.map(|charge| (charge.split_rule, create::NewCharge::from(charge)));
    assert_eq!(
        terms.map(|(rule, terms)| (
            rule,
            terms.amount.centavos(),
            terms.expires_in_s,
            terms
                .split
                .iter()
                .map(|share| format!("{} {}", share.recipient_email, share.percentage))
                .collect::<Vec<_>>(),
            terms.description
        )),
        Some((
            false,
            1_050,
            60,
            vec!["a@x.example 99.9999".to_owned(), "b@x.example 0.0001".to_owned()],
            Text::parse("line\nline", 140, LineBreaks::Allowed).ok()
        ))
    );
}

#[test]
fn null_fields_and_empty_split_count_as_absent() {
    let body = r#"{"amount":2,"description":null,"payer_name":null,"payer_document":null,"expires_in":null,"external_id":null,
        "postback_url":null,"split":null,"split_rule_id":null}"#;
    assert_eq!(problems(body), [""; 0]);
    let issues = Issues::default();
    let node = read_json(br#"{"amount":2,"split":[]}"#, &issues);
    let charge = NewCharge::read(&node, &issues)
        .map(|new| (new.split.len(), new.split_rule, create::NewCharge::from(new).expires_in_s));
    assert_eq!(charge, Some((0, false, 3_600)));
    let node = read_json(br#"{"amount":2,"split_rule_id":"x"}"#, &issues);
    assert!(NewCharge::read(&node, &issues).is_some_and(|charge| charge.split_rule) && issues.is_empty());
}

#[test]
fn charge_body_problems_are_all_reported() {
    let long = "é".repeat(141);
    let body = format!(
        r#"{{"amount":"10","description":"{long}","payer_name":"a\nb","payer_document":"123456789012345678901","expires_in":59,
            "external_id":"","postback_url":7,"split":[{{"recipient_email":"x","percentage":0,"more":1}},3],"extra":1,"extra":2}}"#
    );
    assert_eq!(
        problems(&body),
        [
            "extra is given more than once",
            "amount must be a number",
            "description must have at most 140 characters",
            "payer_name must not contain control characters",
            "payer_document must have at most 20 characters",
            "expires_in must be an integer from 60 to 86400",
            "external_id must not be empty",
            "postback_url must be a string",
            "split[0].recipient_email must be an e-mail address",
            "split[0].percentage must be greater than 0",
            "split[0].more is not a known field",
            "split[1] must be a JSON object",
            "extra is not a known field",
        ]
    );
}

#[test]
fn lengths_count_characters() {
    assert_eq!(problems(&format!(r#"{{"amount":2,"description":"{}"}}"#, "é".repeat(140))), [""; 0]);
    assert_eq!(problems(&format!(r#"{{"amount":2,"external_id":"{}"}}"#, "é".repeat(120))), [""; 0]);
    assert_eq!(
        problems(r#"{"amount":2,"external_id":"a\u0000"}"#),
        ["external_id must not contain control characters"]
    );
}

#[test]
fn invalid_splits_are_rejected() {
    let item = |email: &str, share: &str| format!(r#"{{"recipient_email":"{email}","percentage":{share}}}"#);
    let split = |items: &[String]| problems(&format!(r#"{{"amount":2,"split":[{}]}}"#, items.join(",")));
    assert_eq!(split(&[item("a@x", "50"), item("A@X", "10")]), ["split[1].recipient_email is given more than once"]);
    assert_eq!(
        split(&[item("a@x", "50"), item("b@x", "50.0001")]),
        ["split must have percentages that sum to at most 100"]
    );
    let six: Vec<_> = (0..6).map(|number| item(&format!("a{number}@x"), "1")).collect();
    assert_eq!(split(&six), ["split must have at most 5 items"]);
    assert_eq!(split(&["{}".to_owned()]), ["split[0].recipient_email is required", "split[0].percentage is required"]);
    assert_eq!(problems(r#"{"amount":2,"split":{}}"#), ["split must be an array"]);
}

#[test]
fn charge_body_must_be_an_object() {
    for body in ["[]", "3", "\"x\"", "null", "true"] {
        assert_eq!(problems(body), [" must be a JSON object"], "{body}");
    }
    assert_eq!(problems("{}"), ["amount is required"]);
}

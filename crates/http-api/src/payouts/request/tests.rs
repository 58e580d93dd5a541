//! Tests the body of a request for a payout: every rule at its limit and just beyond.

use cais_strict_json::read as read_json;

use super::*;

fn parsed(body: &str) -> (Option<NewPayout>, Vec<String>) {
    let issues = Issues::default();
    let node = read_json(body.as_bytes(), &issues);
    let parsed = NewPayout::read(&node, &issues);
    (parsed, issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect())
}

fn problems(body: &str) -> Vec<String> {
    parsed(body).1
}

#[test]
fn complete_payout_body_is_read_with_normalized_key() {
    let (found, issues) = parsed(
        r#"{"amount":0.01,"pix_key":"Ana@Shop.Example","pix_key_type":"email","recipient_document":"529.982.247-25",
            "description":"line\nline","external_id":"p-1"}"#,
    );
    assert_eq!(issues, [""; 0]);
    assert_eq!(found.map(|payout| payout.pix_key.to_string()).as_deref(), Some("ana@shop.example"));
    let (found, issues) = parsed(
        r#"{"amount":1e1,"pix_key":"+55 (11) 98765-4321","recipient_document":"12.ABC.345/01DE-35","external_id":"p-1"}"#,
    );
    assert_eq!(issues, [""; 0]);
    let found = found.map(|payout| {
        let document = payout.recipient_document.map(|document| document.as_str().to_owned());
        (payout.amount.0.centavos(), payout.pix_key.to_string(), document)
    });
    assert_eq!(found, Some((1_000, "+5511987654321".to_owned(), Some("12ABC34501DE35".to_owned()))));
    let null = r#"{"amount":1,"pix_key":"a@b.example","pix_key_type":null,"recipient_document":null,"description":null,"external_id":null}"#;
    assert_eq!(problems(null), [""; 0]);
}

#[test]
fn invalid_pix_keys_are_rejected_with_a_hint() {
    for (key, kind, expected) in [
        (
            "11987654321",
            "null",
            "pix_key is not a valid CPF or CNPJ; if it is a phone number, write it with + and the country code, as in +5511987654321",
        ),
        (
            "11987654321",
            r#""phone""#,
            "pix_key is not a valid phone key: write it with + and the country code, as in +5511987654321",
        ),
        ("a@b.example", r#""evp""#, "pix_key is not a valid random key: it is a UUID with its dashes"),
        (
            "nonsense",
            "null",
            "pix_key is not a Pix key: it must be a CPF, a CNPJ, an e-mail, a phone beginning with + or a random key",
        ),
        ("a@b.example", r#""EMAIL""#, "pix_key_type must be one of cpf, cnpj, email, phone, evp"),
        ("a@b.example", "1", "pix_key_type must be a string"),
    ] {
        let body = format!(r#"{{"amount":1,"pix_key":"{key}","pix_key_type":{kind}}}"#);
        assert_eq!(problems(&body), [expected], "{key} {kind}");
    }
    let long = format!(r#"{{"amount":1,"pix_key":"{}@b.example"}}"#, "a".repeat(68));
    assert_eq!(problems(&long), ["pix_key must have at most 77 characters"]);
    assert_eq!(problems(r#"{"amount":1,"pix_key":7}"#), ["pix_key must be a string"]);
}

#[test]
fn payout_body_problems_are_all_reported() {
    let long = "é".repeat(141);
    let body = format!(
        r#"{{"amount":0.009,"recipient_document":"52998224724","description":"{long}","external_id":"","fee":1}}"#
    );
    assert_eq!(
        problems(&body),
        [
            "amount must have at most two decimals",
            "pix_key is required",
            "recipient_document is not a valid CPF or CNPJ: the check digits of the CPF or CNPJ do not match",
            "description must have at most 140 characters",
            "external_id must not be empty",
            "fee is not a known field",
        ]
    );
    assert_eq!(problems(r#"{"amount":0.00,"pix_key":"a@b.example"}"#), ["amount must be at least 0.01"]);
    assert_eq!(problems(r#"{"amount":-1,"pix_key":"a@b.example"}"#), ["amount must be at least 0.01"]);
    let spaced = r#"{"amount":1,"pix_key":"a@b.example","recipient_document":"5 2 9 . 9 8 2 . 2 4 7 - 2 5"}"#;
    assert_eq!(problems(spaced), ["recipient_document must have at most 20 characters"]);
    assert_eq!(problems("[]"), [" must be a JSON object"]);
}

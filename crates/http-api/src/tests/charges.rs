//! Tests charges and the balance over HTTP.

use cais_domain::merchant::account::{Features, Limits};
use cais_domain::money::Money;
use cais_testkit::builders::an_account;
use cais_testkit::psp::OrderReply;

use super::*;

const CHARGES: &str = "/v1/charges";
const FIELDS: [&str; 11] = [
    "id",
    "txid",
    "external_id",
    "amount",
    "status",
    "description",
    "pix",
    "end_to_end_id",
    "paid_at",
    "expires_at",
    "created_at",
];

/// Returns the names of an object's fields in their order.
fn names(body: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Raw<'a>(#[serde(borrow)] std::collections::BTreeMap<&'a str, &'a serde_json::value::RawValue>);
    let Raw(members) = serde_json::from_slice(body).unwrap();
    let text = str::from_utf8(body).unwrap();
    let mut names: Vec<_> =
        members.keys().map(|name| (text.find(&format!("\"{name}\":")).unwrap(), (*name).to_owned())).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name).collect()
}

#[actix_web::test]
async fn charge_is_created_once_and_its_response_replayed() {
    let bed = TestBed::new().await;
    let first = post(&bed, CHARGES, "key-number-1", r#"{"amount":10.5,"external_id":"a/1"}"#).await;
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!(names(&first.body), FIELDS);
    assert!(first.header("idempotent-replayed").is_none());
    assert!(String::from_utf8(first.body.clone()).unwrap().contains(r#""amount":10.50,"status":"pending""#));
    assert!(first.at("/pix/qr_code_image").as_str().unwrap().starts_with("data:image/png;base64,"));

    let again = post(&bed, CHARGES, "key-number-1", r#" {"external_id":"a/1","amount":1050e-2} "#).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("x-request-id"), first.header("x-request-id"));

    let other = post(&bed, CHARGES, "key-number-1", r#"{"amount":11,"external_id":"a/1"}"#).await;
    assert_eq!(other.error(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    let same = post(&bed, CHARGES, "key-number-2", r#"{"amount":10.50,"external_id":"a/1"}"#).await;
    assert_eq!((same.status, same.at("/id")), (200, first.at("/id")));
    let conflict = post(&bed, CHARGES, "key-number-3", r#"{"amount":10.51,"external_id":"a/1"}"#).await;
    assert_eq!(conflict.error(), (409, "EXTERNAL_ID_CONFLICT".to_owned()));
    assert_eq!(bed.store.charges().len(), 1);

    let id = first.at("/id").as_str().unwrap().to_owned();
    for path in [format!("/v1/charges/{id}"), "/v1/charges/ext:a%2F1".to_owned(), "/v1/charges/ext%3Aa%2f1".to_owned()]
    {
        let seen = get(&bed, &path).await;
        assert_eq!((seen.status, &seen.body), (200, &first.body), "{path}");
    }
}

#[actix_web::test]
async fn malformed_charge_names_are_400_and_unknown_ones_404() {
    let bed = TestBed::new().await;
    for path in
        ["/v1/charges/nope", "/v1/charges/ext:", "/v1/charges/ext:%FF", "/v1/charges/pyt_01h455vb4pex5vsknk084sn02q"]
    {
        let seen = get(&bed, path).await;
        assert_eq!(
            (seen.error(), seen.paths()),
            ((400, "VALIDATION_ERROR".to_owned()), vec!["id".to_owned()]),
            "{path}"
        );
    }
    for path in ["/v1/charges/chg_01h455vb4pex5vsknk084sn02q", "/v1/charges/ext:unknown"] {
        assert_eq!(get(&bed, path).await.error(), (404, "not_found".to_owned()), "{path}");
    }
    let seen = get(&bed, "/v1/charges/chg_01h455vb4pex5vsknk084sn02q?expand=1").await;
    assert_eq!((seen.status, seen.paths()), (400, vec!["expand".to_owned()]));
}

#[actix_web::test]
async fn pages_of_charges_follow_each_other() {
    let bed = TestBed::new().await;
    for number in 0..5 {
        assert_eq!(post(&bed, CHARGES, &format!("page-key-{number}"), r#"{"amount":2}"#).await.status, 201);
    }
    let ids = |seen: &Seen| -> Vec<String> {
        let rows = seen.at("/data");
        rows.as_array().unwrap().iter().map(|row| row.get("id").unwrap().as_str().unwrap().to_owned()).collect()
    };
    let all = get(&bed, CHARGES).await;
    assert_eq!((ids(&all).len(), all.at("/has_more"), all.at("/next_starting_after")), (5, false.into(), Value::Null));
    assert!(ids(&all).is_sorted_by(|left, right| left > right), "newest first");
    let first = get(&bed, "/v1/charges?limit=3").await;
    assert_eq!(
        (first.at("/has_more"), first.at("/next_starting_after").as_str()),
        (true.into(), ids(&first).last().map(String::as_str))
    );
    let rest = get(&bed, &format!("/v1/charges?limit=3&starting_after={}", ids(&first).last().unwrap())).await;
    assert_eq!([ids(&first), ids(&rest)].concat(), ids(&all));
    let unknown = get(&bed, "/v1/charges?starting_after=chg_01h455vb4pex5vsknk084sn02q").await;
    assert_eq!(
        (unknown.error(), unknown.paths()),
        ((400, "VALIDATION_ERROR".to_owned()), vec!["starting_after".to_owned()])
    );
}

#[actix_web::test]
async fn repeated_cancellation_returns_the_cancelled_charge() {
    let bed = TestBed::new().await;
    let created = post(&bed, CHARGES, "cancel-key", r#"{"amount":10,"external_id":"c"}"#).await;
    let id = created.at("/id").as_str().unwrap().to_owned();
    for path in [format!("/v1/charges/{id}/cancel"), "/v1/charges/ext:c/cancel".to_owned()] {
        let request = TestRequest::post().uri(&path).insert_header(("x-api-key", bed.key.as_str()));
        let seen = send(&bed, request).await;
        assert_eq!(
            (seen.status, seen.at("/status"), seen.at("/pix/qr_code_image")),
            (200, "cancelled".into(), Value::Null),
            "{path}"
        );
        assert!(seen.at("/pix/copy_paste").is_string());
    }
    assert_eq!(post(&bed, &format!("/v1/charges/{id}/cancel"), "", "{}").await.status, 200);
    let seen = post(&bed, &format!("/v1/charges/{id}/cancel"), "", r#"{"reason":"x"}"#).await;
    assert_eq!((seen.status, seen.paths()), (400, vec!["reason".to_owned()]));
}

#[actix_web::test]
async fn charge_beyond_limits_or_features_is_rejected() {
    let limited = cais_domain::merchant::account::Account {
        limits: Limits { charge: Money::from_centavos(500), ..Limits::default() },
        ..an_account()
    };
    let bed = TestBed::with(limited, true).await;
    let seen = post(&bed, CHARGES, "limit-key", r#"{"amount":5.01}"#).await;
    assert_eq!(seen.error(), (422, "transaction_limit_exceeded".to_owned()));
    let split = r#"{"amount":5,"split":[{"recipient_email":"a@x.example","percentage":10}]}"#;
    assert_eq!(post(&bed, CHARGES, "split-key", split).await.error(), (403, "split_disabled".to_owned()));
    assert_eq!(post(&bed, CHARGES, "split-none", r#"{"amount":5,"split":[]}"#).await.status, 201);

    let featureless = cais_domain::merchant::account::Account { features: Features::default(), ..an_account() };
    let bed = TestBed::with(featureless, true).await;
    assert_eq!(
        post(&bed, CHARGES, "feature-key", r#"{"amount":5}"#).await.error(),
        (403, "feature_disabled".to_owned())
    );
}

#[actix_web::test]
async fn charge_is_502_while_the_acquirer_is_down() {
    let bed = TestBed::new().await;
    bed.bank.psp.set_all(OrderReply::Down);
    let seen = post(&bed, CHARGES, "down-key", r#"{"amount":5}"#).await;
    assert_eq!(seen.error(), (502, "acquirer_unavailable".to_owned()));
    assert_eq!(seen.at("/error/retryable"), true);
}

#[actix_web::test]
async fn charge_problems_are_all_reported_together() {
    let bed = TestBed::new().await;
    let seen = post(&bed, CHARGES, "problem-key", r#"{"amount":1.999,"expires_in":1,"split":[{}],"x":1}"#).await;
    assert_eq!(seen.paths(), ["amount", "expires_in", "split[0].recipient_email", "split[0].percentage", "x"]);
    assert_eq!(post(&bed, CHARGES, "problem-key", "").await.paths(), [""]);
    assert_eq!(post(&bed, "/v1/charges?dry_run=1", "problem-key", r#"{"amount":2}"#).await.paths(), ["dry_run"]);
}

#[actix_web::test]
async fn balance_has_the_contract_fields() {
    let bed = TestBed::new().await;
    let expected = r#"{"available_balance":0.00,"pending_balance":0.00,"blocked_balance":0.00,"total_balance":0.00,"currency":"BRL"}"#;
    assert_eq!(String::from_utf8(get(&bed, "/v1/balance").await.body).unwrap(), expected);
    assert_eq!(get(&bed, "/v1/balance?at=now").await.paths(), ["at"]);
}

#[actix_web::test]
async fn payment_page_has_an_unguessable_address() {
    let bed = TestBed::new().await;
    let made = post(&bed, CHARGES, "key-number-1", r#"{"amount":10,"external_id":"a/1"}"#).await;
    let id = made.at("/id").as_str().unwrap().to_owned();
    let page = |path: String| TestRequest::get().uri(&path).insert_header(("host", "pay.example:8080"));
    let page = |path| page(path).insert_header(("x-api-key", bed.key.as_str()));
    let first = send(&bed, page(format!("{CHARGES}/{id}/payment-page"))).await;
    assert_eq!(first.status, 200, "{first:?}");
    let url = first.at("/url").as_str().unwrap().to_owned();
    let (base, token) = url.rsplit_once("/pay/").unwrap();
    assert_eq!(base, "http://pay.example:8080");
    assert_eq!((token.len(), token.bytes().all(|digit| digit.is_ascii_hexdigit())), (64, true), "{url}");
    let by_name = send(&bed, page(format!("{CHARGES}/ext:a%2F1/payment-page"))).await;
    assert_eq!(by_name.body, first.body);
    let other = post(&bed, CHARGES, "key-number-2", r#"{"amount":10}"#).await;
    let other = send(&bed, page(format!("{CHARGES}/{}/payment-page", other.at("/id").as_str().unwrap()))).await;
    assert_ne!(other.body, first.body);
    let missing = get(&bed, &format!("{CHARGES}/chg_01h455vb4pex5vsknk084sn02q/payment-page")).await;
    assert_eq!(missing.error(), (404, "not_found".to_owned()));
    let query = get(&bed, &format!("{CHARGES}/{id}/payment-page?x=1")).await;
    assert_eq!(query.error(), (400, "VALIDATION_ERROR".to_owned()));
}

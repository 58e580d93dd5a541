//! Tests payouts over HTTP.

use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::{Account, Features, Limits};
use cais_domain::merchant::api_key::Scopes;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, OrderReply};

use super::*;

const PAYOUTS: &str = "/v1/payouts";

/// Returns an account that pays a fee of R$ 0.50 per payout.
fn paying() -> Account {
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::zero(), None, None).unwrap();
    let account = an_account();
    Account { fees: account.fees.clone().with(Operation::PixOut, rule), ..account }
}

async fn balance(bed: &TestBed) -> String {
    get(bed, "/v1/balance").await.at("/available_balance").to_string()
}

#[actix_web::test]
async fn payout_is_sent_once_and_its_response_replayed() {
    let bed = TestBed::with(paying(), true).await;
    fund(&bed, "100").await;
    let body = r#"{"amount":10,"pix_key":"Ana@Example.com","external_id":"p/1","description":"Invoice"}"#;
    let first = post(&bed, PAYOUTS, "payout-key-1", body).await;
    assert_eq!(first.status, 201, "{first:?}");
    let text = String::from_utf8(first.body.clone()).unwrap();
    assert!(
        text.contains(r#""amount":10.00,"fee":0.50,"net_amount":10.00,"gross_amount":10.50,"status":"processing""#),
        "{text}"
    );
    assert!(
        text.contains(
            r#""pix":{"key":"ana@example.com","recipient_name":"Ana Lima","recipient_document":"***.456.789-**"}"#
        ),
        "{text}"
    );
    assert_eq!(balance(&bed).await, "89.50");

    let again = post(&bed, PAYOUTS, "payout-key-1", body).await;
    assert_eq!((again.status, &again.body, again.header("idempotent-replayed")), (201, &first.body, Some("true")));
    assert_eq!(again.header("x-request-id"), first.header("x-request-id"));
    let same =
        post(&bed, PAYOUTS, "payout-key-2", r#"{"amount":10.00,"pix_key":"ana@example.com","external_id":"p/1"}"#)
            .await;
    assert_eq!((same.status, same.at("/id")), (200, first.at("/id")), "{same:?}");
    let id = first.at("/id").as_str().unwrap().to_owned();
    for (key, body, another) in [
        ("payout-key-3", r#"{"amount":10.01,"pix_key":"ana@example.com","external_id":"p/1"}"#, "amount"),
        ("payout-key-4", r#"{"amount":10,"pix_key":"bia@example.com","external_id":"p/1"}"#, "pix_key"),
        ("payout-key-5", r#"{"amount":9,"pix_key":"b@example.com","external_id":"p/1"}"#, "amount and another pix_key"),
    ] {
        let refused = post(&bed, PAYOUTS, key, body).await;
        assert_eq!(refused.error(), (409, "EXTERNAL_ID_CONFLICT".to_owned()));
        let message = format!("The external_id belongs to {id}, which has another {another}.");
        assert_eq!(refused.at("/error/message"), message);
    }
    assert_eq!(bed.bank.psp.ordered(OrderKind::Payout), 1);

    bed.clock.advance(std::time::Duration::from_secs(2));
    bed.bank.settle();
    let id = first.at("/id").as_str().unwrap().to_owned();
    let seen = get(&bed, &format!("{PAYOUTS}/{id}")).await;
    assert_eq!((seen.status, seen.at("/status")), (200, "completed".into()), "{seen:?}");
    assert!(seen.at("/completed_at").is_string() && seen.at("/end_to_end_id").is_string());
    assert_eq!(get(&bed, "/v1/payouts/ext:p%2F1").await.body, seen.body);
    let page = get(&bed, PAYOUTS).await;
    assert_eq!((page.at("/data/0"), page.at("/has_more")), (seen.json(), false.into()));

    let back = post(&bed, &format!("/v1/sandbox/payouts/{id}/reverse"), "", "").await;
    assert_eq!((back.status, back.at("/status")), (200, "reversed".into()), "{back:?}");
    assert_eq!(balance(&bed).await, "99.50", "the fee is not given back");
    let twice = post(&bed, &format!("/v1/sandbox/payouts/{id}/reverse"), "", "").await;
    assert_eq!(twice.error(), (409, "invalid_state".to_owned()));
    assert!(twice.at("/error/message").as_str().unwrap().contains("reversed"));
}

#[actix_web::test]
async fn failed_payout_returns_amount_and_fee() {
    let bed = TestBed::with(paying(), true).await;
    fund(&bed, "20").await;
    bed.bank.psp.set_for(OrderKind::Payout, OrderReply::Fails);
    let seen = post(&bed, PAYOUTS, "failing-key", r#"{"amount":10,"pix_key":"ana@example.com"}"#).await;
    assert_eq!((seen.status, seen.at("/status")), (201, "failed".into()), "{seen:?}");
    assert_eq!(seen.at("/error_message"), "the recipient's institution did not accept the Pix");
    assert_eq!(balance(&bed).await, "20.00");
}

#[actix_web::test]
async fn payout_without_balance_replays_its_rejection() {
    let bed = TestBed::with(paying(), true).await;
    fund(&bed, "10.49").await;
    let body = r#"{"amount":10,"pix_key":"ana@example.com"}"#;
    let refused = post(&bed, PAYOUTS, "poor-key-1", body).await;
    assert_eq!(refused.error(), (422, "insufficient_balance".to_owned()));
    let message = "Insufficient available balance: 10.50 needed, 10.49 available.";
    assert_eq!(refused.at("/error/message"), message, "the fee is part of what is needed");
    assert_eq!(refused.at("/request_id").as_str(), refused.header("x-request-id"));
    fund(&bed, "100").await;
    let again = post(&bed, PAYOUTS, "poor-key-1", body).await;
    assert_eq!((again.status, &again.body), (422, &refused.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("x-request-id"), refused.header("x-request-id"));
    assert_eq!(bed.bank.psp.ordered(OrderKind::Payout), 0);
    assert_eq!(post(&bed, PAYOUTS, "poor-key-2", body).await.status, 201);
}

#[actix_web::test]
async fn payout_beyond_limits_or_features_is_rejected() {
    let limited = Account { limits: Limits { payout: Money::from_centavos(500), ..Limits::default() }, ..an_account() };
    let bed = TestBed::with(limited, true).await;
    let seen = post(&bed, PAYOUTS, "limit-key", r#"{"amount":5.01,"pix_key":"a@b.example"}"#).await;
    assert_eq!(seen.error(), (422, "transaction_limit_exceeded".to_owned()));
    let bed = TestBed::with(Account { features: Features::default(), ..an_account() }, true).await;
    let seen = post(&bed, PAYOUTS, "feature-key", r#"{"amount":5,"pix_key":"a@b.example"}"#).await;
    assert_eq!(seen.error(), (403, "feature_disabled".to_owned()));

    let bed = TestBed::new().await;
    fund(&bed, "20").await;
    bed.bank.psp.set_all(OrderReply::Down);
    let seen = post(&bed, PAYOUTS, "down-key-1", r#"{"amount":5,"pix_key":"a@b.example","external_id":"d"}"#).await;
    assert_eq!(seen.error(), (502, "acquirer_unavailable".to_owned()));
    assert_eq!(balance(&bed).await, "20.00");
    assert_eq!(get(&bed, "/v1/payouts/ext:d").await.error(), (404, "not_found".to_owned()));
    assert_eq!(get(&bed, PAYOUTS).await.at("/data"), Value::Array(Vec::new()));
}

#[actix_web::test]
async fn invalid_payout_requests_are_rejected() {
    let bed = TestBed::new().await;
    let good = r#"{"amount":5,"pix_key":"a@b.example"}"#;
    assert_eq!(post(&bed, PAYOUTS, "", good).await.error(), (400, "idempotency_key_required".to_owned()));
    assert_eq!(post(&bed, PAYOUTS, "short", good).await.error(), (400, "invalid_idempotency_key".to_owned()));
    let seen = post(&bed, PAYOUTS, "problem-key", r#"{"amount":0.001,"pix_key":"11987654321","x":1}"#).await;
    assert_eq!(seen.paths(), ["amount", "pix_key", "x"]);
    assert!(seen.at("/error/issues/1/message").as_str().unwrap().contains("+5511987654321"));
    assert_eq!(post(&bed, "/v1/payouts?dry_run=1", "problem-key", good).await.paths(), ["dry_run"]);
    for path in ["/v1/payouts/nope", "/v1/payouts/ext:", "/v1/payouts/chg_01h455vb4pex5vsknk084sn02q"] {
        assert_eq!(get(&bed, path).await.paths(), ["id"], "{path}");
    }
    assert_eq!(get(&bed, "/v1/payouts/pyt_01h455vb4pex5vsknk084sn02q").await.status, 404);
    assert_eq!(
        get(&bed, "/v1/payouts?starting_after=pyt_01h455vb4pex5vsknk084sn02q").await.paths(),
        ["starting_after"]
    );
    assert_eq!(get(&bed, "/v1/payouts?status=failed").await.paths(), ["status"]);

    let reader = bed.key_with(Scopes::parse("payouts:read,charges:write").unwrap()).await;
    let with = |request: TestRequest| request.insert_header(("x-api-key", reader.as_str()));
    assert_eq!(send(&bed, with(TestRequest::get().uri(PAYOUTS))).await.status, 200);
    for request in [TestRequest::post().uri(PAYOUTS), TestRequest::post().uri("/v1/sandbox/payouts/ext:x/reverse")] {
        let seen = send(&bed, with(request)).await;
        assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()));
        assert!(seen.at("/error/message").as_str().unwrap().contains("payouts:write"));
    }
}

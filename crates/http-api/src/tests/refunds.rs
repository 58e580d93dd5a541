//! Tests refunds over HTTP.

use std::time::Duration;

use super::*;

async fn paid(bed: &TestBed, amount: &str) -> String {
    fund(bed, amount).await
}

#[actix_web::test]
async fn charge_is_refunded_in_parts() {
    let bed = TestBed::new().await;
    let id = paid(&bed, "25").await;
    let path = format!("/v1/charges/{id}/refunds");
    let first = post(&bed, &path, "refund-key-1", r#"{"amount":10,"reason":"cold","external_id":"r/1"}"#).await;
    assert_eq!(first.status, 201, "{first:?}");
    let text = String::from_utf8(first.body.clone()).unwrap();
    let expected = format!(
        r#""charge_id":"{id}","external_id":"r/1","amount":10.00,"status":"processing","reason":"cold","return_id":"#
    );
    assert!(text.contains(&expected), "{text}");
    let again = post(&bed, &path, "refund-key-1", r#"{"amount":10,"reason":"cold","external_id":"r/1"}"#).await;
    assert_eq!((again.status, &again.body, again.header("idempotent-replayed")), (201, &first.body, Some("true")));
    let same = post(&bed, &path, "refund-key-2", r#"{"external_id":"r/1"}"#).await;
    assert_eq!((same.status, same.at("/id")), (200, first.at("/id")));
    let other = post(&bed, &path, "refund-key-3", r#"{"amount":9,"external_id":"r/1"}"#).await;
    assert_eq!(other.error(), (409, "EXTERNAL_ID_CONFLICT".to_owned()));
    let much = post(&bed, &path, "refund-key-4", r#"{"amount":15.01}"#).await;
    assert_eq!(much.error(), (422, "refund_exceeds_amount".to_owned()));
    assert!(much.at("/error/message").as_str().unwrap().contains("15.00"));
    assert_eq!(get(&bed, "/v1/balance").await.at("/available_balance").to_string(), "15.00");

    bed.clock.advance(Duration::from_secs(2));
    bed.bank.settle();
    let page = get(&bed, &path).await;
    assert_eq!((page.at("/data/0/status"), page.at("/has_more")), ("completed".into(), false.into()), "{page:?}");
    // An empty body is rejected. An empty object refunds the whole rest.
    let lost = post(&bed, &path, "refund-key-4", "").await;
    assert_eq!((lost.status, lost.paths()), (400, vec![String::new()]), "an empty body must not refund the rest");
    let rest = post(&bed, &path, "refund-key-5", "{}").await;
    assert_eq!((rest.status, rest.at("/amount").to_string()), (201, "15.00".to_owned()), "{rest:?}");
    bed.clock.advance(Duration::from_secs(2));
    bed.bank.settle();
    assert_eq!(get(&bed, &path).await.at("/data/0/status"), "completed");
    assert_eq!(get(&bed, &format!("/v1/charges/{id}")).await.at("/status"), "refunded");
    let late = post(&bed, &path, "refund-key-6", "{}").await;
    assert_eq!(late.error(), (409, "invalid_state".to_owned()));
    assert!(late.at("/error/message").as_str().unwrap().contains("refunded"));
    let after = rest.at("/id").as_str().unwrap().to_owned();
    let second = get(&bed, &format!("{path}?limit=1&starting_after={after}")).await;
    assert_eq!(second.at("/data/0/id"), first.at("/id"));
}

#[actix_web::test]
async fn sandbox_makes_refund_fail() {
    let bed = TestBed::new().await;
    let id = paid(&bed, "25").await;
    let path = format!("/v1/charges/{id}/refunds");
    let refund = post(&bed, &path, "refund-key-1", r#"{"amount":10,"external_id":"r"}"#).await;
    let refund = refund.at("/id").as_str().unwrap().to_owned();
    let seen = post(&bed, "/v1/sandbox/refunds/ext:r/fail", "", "").await;
    assert_eq!(
        (seen.status, seen.at("/status"), seen.at("/id")),
        (200, "failed".into(), refund.clone().into()),
        "{seen:?}"
    );
    assert_eq!(get(&bed, "/v1/balance").await.at("/available_balance").to_string(), "25.00");
    let twice = post(&bed, &format!("/v1/sandbox/refunds/{refund}/fail"), "", "").await;
    assert_eq!(twice.error(), (409, "invalid_state".to_owned()));
    let unknown = post(&bed, "/v1/sandbox/refunds/rfd_01h455vb4pex5vsknk084sn02q/fail", "", "").await;
    assert_eq!(unknown.error(), (404, "not_found".to_owned()));
    assert_eq!(post(&bed, "/v1/sandbox/refunds/nope/fail", "", "").await.paths(), ["id"]);
}

#[actix_web::test]
async fn refund_that_is_not_possible_is_rejected() {
    let bed = TestBed::new().await;
    let created = post(&bed, "/v1/charges", "charge-key", r#"{"amount":10,"external_id":"c"}"#).await;
    assert_eq!(created.status, 201);
    let pending = post(&bed, "/v1/charges/ext:c/refunds", "refund-key-1", "{}").await;
    assert_eq!(pending.error(), (409, "invalid_state".to_owned()));
    let unknown = "/v1/charges/chg_01h455vb4pex5vsknk084sn02q/refunds";
    assert_eq!(post(&bed, unknown, "refund-key-2", "{}").await.error(), (404, "not_found".to_owned()));
    assert_eq!(get(&bed, unknown).await.error(), (404, "not_found".to_owned()));
    let id = paid(&bed, "20").await;
    let path = format!("/v1/charges/{id}/refunds");
    assert_eq!(post(&bed, &path, "", "{}").await.error(), (400, "idempotency_key_required".to_owned()));
    let seen = post(&bed, &path, "refund-key-3", r#"{"amount":0,"reason":1,"x":1}"#).await;
    assert_eq!(seen.paths(), ["amount", "reason", "x"]);
    assert_eq!(get(&bed, "/v1/charges/nope/refunds?limit=0").await.paths(), ["id", "limit"]);
    bed.clock.advance(Duration::from_hours(24 * 91));
    let late = post(&bed, &path, "refund-key-4", "{}").await;
    assert_eq!(late.error(), (422, "deadline_passed".to_owned()));
}

#[actix_web::test]
async fn refund_without_balance_replays_its_rejection() {
    let bed = TestBed::new().await;
    let id = paid(&bed, "25").await;
    let out = post(&bed, "/v1/payouts", "payout-key", r#"{"amount":20,"pix_key":"ana@example.com"}"#).await;
    assert_eq!(out.status, 201);
    let path = format!("/v1/charges/{id}/refunds");
    let refused = post(&bed, &path, "refund-key-1", r#"{"amount":10}"#).await;
    assert_eq!(refused.error(), (422, "insufficient_balance".to_owned()));
    paid(&bed, "50").await;
    let again = post(&bed, &path, "refund-key-1", r#"{"amount":10}"#).await;
    assert_eq!((again.status, &again.body, again.header("idempotent-replayed")), (422, &refused.body, Some("true")));
    assert_eq!(post(&bed, &path, "refund-key-2", r#"{"amount":10}"#).await.status, 201);
}

//! Tests the paths of the sandbox, which simulate the payer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use cais_domain::merchant::api_key::Scopes;
use cais_testkit::builders::an_account;

use super::super::FaultMode;
use super::*;

async fn put(bed: &TestBed, path: &str, body: &str) -> Seen {
    let request = TestRequest::put().uri(path).insert_header(("x-api-key", bed.key.as_str()));
    send(bed, request.insert_header(("content-type", "application/json")).set_payload(body.to_owned())).await
}

#[actix_web::test]
async fn paid_charge_is_shown_paid_at_once() {
    let bed = TestBed::new().await;
    let created = post(&bed, "/v1/charges", "sandbox-key", r#"{"amount":10,"external_id":"s"}"#).await;
    assert_eq!(created.status, 201);
    assert_eq!(
        get(&bed, "/v1/charges/ext:s").await.at("/status"),
        "pending",
        "the acquirer was read within this second"
    );
    let paid = post(&bed, "/v1/sandbox/charges/ext:s/pay", "", "").await;
    assert_eq!((paid.status, paid.at("/status")), (200, "paid".into()), "{paid:?}");
    assert!(paid.at("/end_to_end_id").is_string() && paid.at("/paid_at").is_string());
    assert_eq!(get(&bed, "/v1/charges/ext:s").await.body, paid.body);
    assert_eq!(get(&bed, "/v1/balance").await.at("/total_balance").to_string(), "10.00");
    assert_eq!(
        post(&bed, "/v1/sandbox/charges/ext:s/pay", "", r#"{"amount":3}"#).await.status,
        200,
        "a second payment is accepted"
    );
    assert_eq!(post(&bed, "/v1/charges/ext:s/cancel", "", "").await.error(), (409, "invalid_state".to_owned()));
}

#[actix_web::test]
async fn charge_expires_on_request() {
    let bed = TestBed::new().await;
    let created = post(&bed, "/v1/charges", "sandbox-key", r#"{"amount":10}"#).await;
    let id = created.at("/id").as_str().unwrap().to_owned();
    let seen = post(&bed, &format!("/v1/sandbox/charges/{id}/expire"), "", "").await;
    assert_eq!((seen.status, seen.at("/id")), (200, id.into()), "{seen:?}");
    let expiries: Vec<_> = bed.bank.psp.charges().iter().map(|charge| charge.expires_at).collect();
    assert_eq!(expiries, [jiff::Timestamp::UNIX_EPOCH]);
}

#[actix_web::test]
async fn faults_and_clock_are_set() {
    let bed = TestBed::new().await;
    let seen = put(&bed, "/v1/sandbox/faults", r#"{"mode":"slow","latency_ms":250,"acquirer":"main"}"#).await;
    assert_eq!(
        (seen.status, seen.json()),
        (200, serde_json::json!({"acquirer":"main","mode":"slow","latency_ms":250}))
    );
    assert_eq!(*bed.bank.faults.lock().unwrap(), Some((FaultMode::Slow, Duration::from_millis(250))));
    assert_eq!(put(&bed, "/v1/sandbox/faults", "{}").await.paths(), ["mode"]);
    let seen = put(&bed, "/v1/sandbox/faults", r#"{"mode":"error","acquirer":"crypto"}"#).await;
    assert_eq!((seen.status, seen.at("/acquirer")), (200, "crypto".into()));
    assert_eq!(*bed.bank.crypto_faults.lock().unwrap(), Some((FaultMode::Error, Duration::from_secs(5))));

    let seen = put(&bed, "/v1/sandbox/clock", r#"{"offset_s":-3600}"#).await;
    assert_eq!((seen.status, seen.json()), (200, serde_json::json!({"offset_s":-3600})));
    assert_eq!(*bed.moved_by.lock().unwrap(), Some(-3_600));
    assert_eq!(put(&bed, "/v1/sandbox/clock", r#"{"offset_s":1e12}"#).await.paths(), ["offset_s"]);
}

#[actix_web::test]
async fn sandbox_requires_the_write_scope() {
    let bed = TestBed::new().await;
    let reader = bed.key_with(Scopes::parse("charges:read").unwrap()).await;
    let request = TestRequest::put().uri("/v1/sandbox/clock").insert_header(("x-api-key", reader));
    assert_eq!(send(&bed, request).await.error(), (403, "insufficient_scope".to_owned()));
}

#[actix_web::test]
async fn sandbox_routes_without_sandbox_are_404() {
    let bed = TestBed::with(an_account(), false).await;
    assert_eq!(put(&bed, "/v1/sandbox/clock", r#"{"offset_s":0}"#).await.error(), (404, "not_found".to_owned()));
    assert_eq!(post(&bed, "/v1/sandbox/charges/ext:s/pay", "", "").await.error(), (404, "not_found".to_owned()));
}

/// The clock of tokio is stopped, so that the time limit of five seconds for the record of a change passes at once.
#[actix_web::test]
async fn change_that_stays_unrecorded_is_503() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "100").await;
    let payout = r#"{"amount":10,"pix_key":"ana@example.com","external_id":"p"}"#;
    assert_eq!(post(&bed, "/v1/payouts", "payout-key", payout).await.status, 201);
    bed.clock.advance(Duration::from_secs(2));
    bed.bank.settle();
    assert_eq!(get(&bed, "/v1/payouts/ext:p").await.at("/status"), "completed");
    let refund = r#"{"amount":10,"external_id":"r"}"#;
    assert_eq!(post(&bed, &format!("/v1/charges/{charge}/refunds"), "refund-key", refund).await.status, 201);
    let dispute = post(&bed, &format!("/v1/sandbox/charges/{charge}/infraction"), "", "{}").await;
    assert_eq!(dispute.status, 201, "{dispute:?}");
    let resolve = format!("/v1/sandbox/infractions/{}/resolve", dispute.id());

    bed.bank.hides_changes.store(true, Ordering::SeqCst);
    tokio::time::pause();
    let (reverse, fail) = ("/v1/sandbox/payouts/ext:p/reverse", "/v1/sandbox/refunds/ext:r/fail");
    for (path, body) in [(reverse, ""), (fail, ""), (resolve.as_str(), r#"{"outcome":"won"}"#)] {
        let seen = post(&bed, path, "", body).await;
        assert_eq!(seen.error(), (503, "service_unavailable".to_owned()), "{path}");
        assert_eq!(seen.at("/error/retry_after"), 2, "{path}");
    }
}

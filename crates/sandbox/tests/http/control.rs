//! Tests the control interface over HTTP, and the start of the simulator in two kinds of async runtime.

use cais_sandbox::{Sandbox, SandboxConfig, SandboxError};
use serde_json::json;

use crate::bed::{Bed, txid};

#[tokio::test]
async fn charge_is_paid_with_any_amount() {
    let bed = Bed::start().await;
    let pay = format!("/sandbox/cob/{}/pay", bed.create(1, "10.00").await);
    let cases = [
        (json!({}), "10.00"),
        (json!({ "valor": "3.50" }), "3.50"),
        (json!({ "valor": 3.5 }), "3.50"),
        (json!({ "valor": 7 }), "7.00"),
    ];
    for (body, amount) in cases {
        let answer = bed.post(&pay, &body).await;
        assert_eq!((answer.status, answer.body["valor"].as_str().unwrap()), (200, amount), "{body}");
        assert_eq!(answer.body["txid"], txid(1).as_str());
        assert_eq!(answer.body["endToEndId"].as_str().unwrap().len(), 32);
    }
    for body in [json!({ "valor": "0.00" }), json!({ "valor": 1.005 }), json!({ "valor": "-1" }), json!({ "x": 1 })] {
        assert_eq!(bed.post(&pay, &body).await.status, 400, "{body}");
    }
    assert_eq!(bed.post(&format!("/sandbox/cob/{}/pay", txid(9)), &json!({})).await.status, 404);
    let ledger = bed.get("/sandbox/ledger").await.body;
    assert_eq!((&ledger["received"]["count"], &ledger["received"]["total"]), (&json!(4), &json!("24.00")));
    assert_eq!(ledger["received"]["items"].as_array().unwrap().len(), 4);
    assert_eq!(ledger["sent"], json!({ "count": 0, "total": "0.00", "items": [] }));
    assert_eq!(ledger["cobs"], 1);
}

#[tokio::test]
async fn expired_charge_stays_active_with_past_expiry() {
    let bed = Bed::start().await;
    let txid = bed.create(1, "10.00").await;
    assert_eq!(bed.post(&format!("/sandbox/cob/{txid}/expire"), &json!({})).await.status, 204);
    let cob = bed.get(&format!("/v2/cob/{txid}")).await.body;
    assert_eq!(cob["status"], "ATIVA");
    let created: jiff::Timestamp = cob["calendario"]["criacao"].as_str().unwrap().parse().unwrap();
    let expiry = created + jiff::SignedDuration::from_secs(cob["calendario"]["expiracao"].as_i64().unwrap());
    assert!(expiry < bed.control.ledger().unwrap().now);
    assert_eq!(bed.post(&format!("/sandbox/cob/{txid}/expire"), &json!({})).await.status, 204);
    assert_eq!(bed.get(&format!("/v2/cob/{txid}")).await.body, cob);
    let missing = format!("/sandbox/cob/{}/expire", crate::bed::txid(9));
    assert_eq!(bed.post(&missing, &json!({})).await.status, 404);
}

#[tokio::test]
async fn clock_offset_changes_recorded_instants() {
    let bed = Bed::start().await;
    let set = bed.put("/sandbox/clock", &json!({ "offset_s": 86_400 })).await;
    assert_eq!((set.status, &set.body["offset_s"]), (200, &json!(86_400)));
    let ahead = bed.control.ledger().unwrap().now;
    bed.control.set_clock_offset(0).unwrap();
    let back = bed.control.ledger().unwrap().now;
    assert!(ahead.duration_since(back) > jiff::SignedDuration::from_secs(86_300));
    assert_eq!(bed.put("/sandbox/clock", &json!({ "offset_s": i64::MAX })).await.status, 400);
    assert_eq!(bed.put("/sandbox/clock", &json!({})).await.status, 400);
}

#[tokio::test]
async fn address_beyond_loopback_is_refused() {
    let config = SandboxConfig { listen: "0.0.0.0:0".parse().unwrap(), ..SandboxConfig::default() };
    assert!(matches!(Sandbox::start(config).await, Err(SandboxError::NotLoopback(_))));
}

#[actix_web::test]
async fn sandbox_runs_in_actix_and_refuses_after_its_end() {
    let bed = Bed::start().await;
    bed.create(1, "1.00").await;
    let (address, control) = (bed.credentials.base_url.replace("http://", ""), bed.control.clone());
    bed.sandbox.stop().await;
    let refused = tokio::net::TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(control.pay(&txid(1), None).is_err());
}

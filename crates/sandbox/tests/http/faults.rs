//! Each way in which the simulator goes wrong when told to.

use std::time::{Duration, Instant};

use cais_sandbox::{Fault, FaultMode};
use reqwest::Method;
use serde_json::json;

use crate::bed::{Bed, txid};

#[tokio::test]
async fn down_closes_without_an_answer_and_without_work() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::Down.into()).unwrap();
    for path in [format!("/v2/cob/{}", txid(1)), "/oauth/token".to_owned(), "/nowhere".to_owned()] {
        let sent = bed.try_send(Method::PUT, &path, Some(&bed.cob("1.00"))).await;
        assert!(!sent.unwrap_err().is_timeout(), "{path}");
    }
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.get(&format!("/v2/cob/{}", txid(1))).await.status, 404);
    assert_eq!(bed.control.ledger().unwrap().cobs, 0);
}

#[tokio::test]
async fn a_dropped_reply_leaves_the_work_done() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::DropReply.into()).unwrap();
    let path = format!("/v2/cob/{}", txid(1));
    let sent = bed.try_send(Method::PUT, &path, Some(&bed.cob("1.00"))).await;
    assert!(!sent.unwrap_err().is_timeout());
    assert_eq!(bed.get(&path).await.status, 200, "who only asks is answered");
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.put(&path, &bed.cob("1.00")).await.status, 409);
}

#[tokio::test]
async fn an_error_does_no_work() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::Error.into()).unwrap();
    let path = format!("/v2/cob/{}", txid(1));
    let answer = bed.put(&path, &bed.cob("1.00")).await;
    assert_eq!((answer.status, answer.kind()), (500, "ErroInternoDoServidor"));
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.get(&path).await.status, 404);
}

#[tokio::test]
async fn slow_waits_and_then_serves() {
    let bed = Bed::start().await;
    let latency = Duration::from_millis(150);
    bed.control.set_faults(Fault { mode: FaultMode::Slow, latency }).unwrap();
    let before = Instant::now();
    let answer = bed.put(&format!("/v2/cob/{}", txid(1)), &bed.cob("1.00")).await;
    assert_eq!(answer.status, 201);
    assert!(before.elapsed() >= latency);
}

#[tokio::test]
async fn faults_are_set_over_http_and_never_touch_the_control_interface() {
    let bed = Bed::start().await;
    let cob = format!("/v2/cob/{}", bed.create(1, "1.00").await);
    for mode in ["down", "drop_reply", "error", "slow"] {
        let body = json!({ "mode": mode, "latency_ms": 60_000, "acquirer": "main" });
        let set = bed.put("/sandbox/faults", &body).await;
        assert_eq!((set.status, &set.body["mode"]), (200, &json!(mode)));
        assert_eq!(bed.get("/sandbox/ledger").await.status, 200);
    }
    for body in [
        json!({ "mode": "sideways" }),
        json!({}),
        json!({ "mode": "slow", "latency_ms": 60_001 }),
        json!({ "mode": "down", "acquirer": "crypto" }),
        json!({ "mode": "down", "x": 1 }),
    ] {
        assert_eq!(bed.put("/sandbox/faults", &body).await.status, 400, "{body}");
    }
    assert_eq!(
        bed.put("/sandbox/faults", &json!({ "mode": "ok" })).await.body,
        json!({ "mode": "ok", "latency_ms": 5000 })
    );
    assert_eq!(bed.get(&cob).await.status, 200);
}

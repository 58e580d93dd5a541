//! Tests every fault of the simulator.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use cais_sandbox::{Fault, FaultMode, SandboxConfig};
use reqwest::Method;
use serde_json::json;

use crate::{
    bed::{Bed, eventually, instant_sends, read, txid},
    receiver::Receiver,
};

#[tokio::test]
async fn down_refuses_every_request_without_work() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::Down.into()).unwrap();
    for path in [format!("/v2/cob/{}", txid(1)), "/oauth/token".to_owned(), "/nowhere".to_owned()] {
        assert_eq!(bed.put(&path, &bed.cob("1.00")).await.status, 429, "{path}");
    }
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.get(&format!("/v2/cob/{}", txid(1))).await.status, 404);
    assert_eq!(bed.control.ledger().unwrap().cobs, 0);
}

#[tokio::test]
async fn down_refuses_connections_and_keeps_the_port() {
    let bed = Bed::with(SandboxConfig { refuses_when_down: true, ..SandboxConfig::default() }).await;
    let address = bed.credentials.base_url.strip_prefix("http://").unwrap();
    for _ in 0..3 {
        bed.control.set_faults(FaultMode::Down.into()).unwrap();
        // The client has an older connection, which is closed with the answer.
        assert_eq!(bed.put(&format!("/v2/cob/{}", txid(1)), &bed.cob("1.00")).await.status, 429);
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let sent = bed.try_send(Method::GET, "/v2/cob", None).await;
        assert!(sent.unwrap_err().is_connect());
        bed.control.set_faults(FaultMode::Ok.into()).unwrap();
        assert_eq!(bed.get(&format!("/v2/cob/{}", txid(1))).await.status, 404);
    }
    bed.control.set_faults(FaultMode::Down.into()).unwrap();
    bed.sandbox.stop().await;
    // The control outlives the server and does not hold the port.
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn dropped_reply_leaves_the_work_done() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::DropReply.into()).unwrap();
    let path = format!("/v2/cob/{}", txid(1));
    let sent = bed.try_send(Method::PUT, &path, Some(&bed.cob("1.00"))).await;
    assert!(!sent.unwrap_err().is_timeout());
    assert_eq!(bed.get(&path).await.status, 200, "reads are answered");
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.put(&path, &bed.cob("1.00")).await.status, 409);
}

#[tokio::test]
async fn error_fault_does_no_work() {
    let bed = Bed::start().await;
    bed.control.set_faults(FaultMode::Error.into()).unwrap();
    let path = format!("/v2/cob/{}", txid(1));
    let answer = bed.put(&path, &bed.cob("1.00")).await;
    assert_eq!((answer.status, answer.kind()), (500, "ErroInternoDoServidor"));
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.get(&path).await.status, 404);
}

#[tokio::test]
async fn slow_fault_serves_after_the_wait() {
    let bed = Bed::start().await;
    let latency = Duration::from_millis(150);
    bed.control.set_faults(Fault { mode: FaultMode::Slow, latency }).unwrap();
    let before = Instant::now();
    let answer = bed.put(&format!("/v2/cob/{}", txid(1)), &bed.cob("1.00")).await;
    assert_eq!(answer.status, 201);
    assert!(before.elapsed() >= latency);
}

#[tokio::test]
async fn faults_never_affect_the_control_interface() {
    let bed = Bed::start().await;
    let cob = format!("/v2/cob/{}", bed.create(1, "1.00").await);
    for mode in ["down", "drop_reply", "error", "slow", "late_reply", "double_callback"] {
        let body = json!({ "mode": mode, "latency_ms": 60_000, "acquirer": "main" });
        let set = bed.put("/sandbox/faults", &body).await;
        assert_eq!((set.status, &set.body["mode"]), (200, &json!(mode)));
        assert_eq!(bed.get("/sandbox/ledger").await.status, 200);
    }
    for body in [
        json!({ "mode": "sideways" }),
        json!({}),
        json!({ "mode": "slow", "latency_ms": 60_001 }),
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

#[tokio::test]
async fn faults_affect_the_institutions_own_paths() {
    let bed = Bed::with(instant_sends()).await;
    let body = bed.payout("1.00", "a@example.com");
    bed.control.set_faults(FaultMode::Error.into()).unwrap();
    let answer = bed.put("/v3/gn/pix/a", &body).await;
    let found = json!({ "nome": "erro_aplicacao", "mensagem": "the sandbox fails on request" });
    assert_eq!((answer.status, answer.body), (500, found));
    bed.control.set_faults(FaultMode::Down.into()).unwrap();
    assert_eq!(bed.put("/v3/gn/pix/a", &body).await.status, 429);
    let idle = bed.control.ledger().unwrap();
    assert_eq!((idle.sent.count, idle.rejected.count), (0, 0));
    bed.control.set_faults(FaultMode::DropReply.into()).unwrap();
    let sent = bed.try_send(Method::PUT, "/v3/gn/pix/a", Some(&body)).await;
    assert!(!sent.unwrap_err().is_timeout());
    assert_eq!(bed.sent("a").await["status"], "REALIZADO", "reads are answered");
    bed.control.set_faults(FaultMode::Ok.into()).unwrap();
    assert_eq!(bed.put("/v3/gn/pix/a", &body).await.status, 409);
    assert_eq!(bed.control.ledger().unwrap().sent.items[0].effects, 1);
}

#[tokio::test]
async fn late_reply_follows_its_callback() {
    let bed = Bed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.register_webhook(&receiver.url).await;
    let latency = Duration::from_mins(1);
    bed.control.set_faults(Fault { mode: FaultMode::LateReply, latency }).unwrap();
    let request = bed.client.put(bed.url("/v3/gn/pix/a")).bearer_auth(&bed.token);
    let request = request.json(&bed.payout("1.00", "a@example.com")).timeout(latency);
    let reply = tokio::spawn(request.send());
    let found = receiver.wait_for(1).await;
    assert_eq!(found[0].body["pix"][0]["gnExtras"]["idEnvio"], "a");
    assert!(!reply.is_finished(), "the answer waits");
    assert_eq!(bed.sent("a").await["status"], "REALIZADO", "reads are answered");
    reply.abort();
    // Late answers arrive in the end.
    let latency = Duration::from_millis(100);
    bed.control.set_faults(Fault { mode: FaultMode::LateReply, latency }).unwrap();
    let before = Instant::now();
    assert_eq!(bed.send("b", "1.00", "a@example.com").await.status, 201);
    assert!(before.elapsed() >= latency);
}

#[tokio::test]
async fn double_callback_fault_repeats_callbacks() {
    let bed = Bed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.register_webhook(&receiver.url).await;
    bed.control.set_faults(FaultMode::DoubleCallback.into()).unwrap();
    assert_eq!(bed.send("a", "1.00", "a@example.com").await.status, 201);
    let found = receiver.wait_for(2).await;
    assert_eq!(found[0].body, found[1].body);
    eventually(async || (bed.control.ledger().unwrap().callbacks.delivered == 1).then_some(())).await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn unknown_method_is_refused_in_the_form_of_each_api() {
    let bed = Bed::start().await;
    let own = read(bed.try_send(Method::POST, "/v2/gn/saldo", None).await.unwrap()).await;
    assert_eq!((own.status, own.allow.as_str()), (405, "GET"));
    assert_eq!(own.body["nome"], "metodo_nao_permitido");
    let standard = read(bed.try_send(Method::DELETE, "/v2/pix", None).await.unwrap()).await;
    assert_eq!((standard.status, standard.allow.as_str(), standard.kind()), (405, "GET", "RequisicaoInvalida"));
}

//! Tests faults of the crypto processor and of the PTAX service.

use std::time::Duration;

use cais_sandbox::{Fault, FaultMode, FaultTarget};
use reqwest::Method;
use serde_json::json;

use super::bed::{CryptoBed, withdrawal};
use crate::bed::instant_sends;

fn set(bed: &CryptoBed, mode: FaultMode, part: Option<&str>) {
    bed.control.set_faults_of(FaultTarget::Crypto, mode.into(), part).unwrap();
}

#[tokio::test]
async fn accepted_payout_without_reply_is_found_in_the_list() {
    let bed = CryptoBed::with(instant_sends()).await;
    set(&bed, FaultMode::DropReply, None);
    assert!(bed.request(Method::POST, "/v1/payout").json(&withdrawal("30", "w1")).send().await.is_err());
    let list = bed.get("/v1/payout").await.body;
    assert_eq!(
        (&list["payouts"][0]["unique_external_id"], &list["payouts"][0]["status"]),
        (&json!("w1"), &json!("CREATING"))
    );
    set(&bed, FaultMode::ErrorAfter, None);
    assert_eq!(bed.pay_out("30", "w2").await.refusal(), (500, "INTERNAL_ERROR"));
    set(&bed, FaultMode::Truncated, Some("/v1/payout"));
    let cut = bed.pay_out("30", "w3").await;
    assert_eq!((cut.status, cut.body.is_null()), (200, true), "{cut:?}");
    set(&bed, FaultMode::Ok, None);
    assert_eq!(bed.control.ledger().unwrap().crypto.withdrawals.len(), 3);
}

#[tokio::test]
async fn refused_request_does_no_work() {
    let bed = CryptoBed::with(instant_sends()).await;
    for (mode, status) in
        [(FaultMode::Down, 429), (FaultMode::RateLimited, 429), (FaultMode::Error, 500), (FaultMode::Html, 200)]
    {
        set(&bed, mode, None);
        let reply = bed.pay_out("30", "w1").await;
        assert_eq!(reply.status, status, "{mode:?}");
        assert_eq!(reply.text.contains("<html>"), mode == FaultMode::Html);
    }
    set(&bed, FaultMode::RateLimited, None);
    let limited = bed.request(Method::GET, "/v1/balance").send().await.unwrap();
    assert_eq!(limited.headers()["retry-after"], "1");
    assert_eq!(bed.control.ledger().unwrap().crypto.withdrawals.len(), 0);
}

#[tokio::test]
async fn hanging_request_gets_no_answer() {
    let bed = CryptoBed::start().await;
    set(&bed, FaultMode::Hang, None);
    let request = bed.request(Method::GET, "/v1/balance").timeout(Duration::from_millis(300));
    assert!(request.send().await.unwrap_err().is_timeout());
    let slow = Fault { mode: FaultMode::Slow, latency: Duration::from_millis(50) };
    bed.control.set_faults_of(FaultTarget::Crypto, slow, None).unwrap();
    assert_eq!(bed.get("/v1/balance").await.status, 200);
}

#[tokio::test]
async fn fault_is_limited_to_its_system_and_path() {
    let bed = CryptoBed::start().await;
    let set = async |body| assert_eq!(bed.put("/sandbox/faults", &body).await.status, 200);
    set(json!({ "mode": "error", "acquirer": "crypto", "path": "/min-amount" })).await;
    assert_eq!(bed.get("/v1/payout-withdrawal/min-amount/trx").await.status, 500);
    assert_eq!(bed.get("/v1/balance").await.status, 200);
    set(json!({ "mode": "error", "acquirer": "ptax" })).await;
    set(json!({ "mode": "ok", "acquirer": "crypto" })).await;
    assert_eq!(bed.get("/v1/payout-withdrawal/min-amount/trx").await.status, 200);
    let rates = bed.get("/olinda/servico/PTAX/versao/v1/odata/CotacaoDolarDia(dataCotacao='11-20-2026')").await;
    assert_eq!((rates.status, rates.text.as_str()), (500, r#"/*{"codigo":500,"mensagem":"Erro desconhecido"}*/"#));
    set(json!({ "mode": "ok", "acquirer": "ptax" })).await;
    set(json!({ "mode": "error", "acquirer": "main" })).await;
    assert_eq!(bed.get("/v1/balance").await.status, 200);
    assert_eq!(bed.get("/v2/gn/saldo").await.status, 500);
}

//! Tests that the breaker counts unanswered calls, not refused records.

use std::sync::Arc;

use cais_acquirers::Router;
use cais_acquirers::breaker::FAILURES_TO_OPEN;
use cais_ports::Acquirers;
use serde_json::json;

use crate::answers::{
    BUDGET, cob_with, efi, html, instruction_id, json_reply, kind, nome, order, payout_order, pix, problem,
    refund_order, sent, txid,
};
use crate::server::{Act, Server};

/// Answers ten reads with `answer`. Returns whether the breaker is still closed, and the last read's result.
async fn after_ten(answer: Act) -> (bool, &'static str) {
    let server = Server::start(move |_, _| answer.clone()).await;
    let router = Router::new(vec![Arc::new(efi(&server.url()))]);
    let guarded = router.named(&router.names().remove(0)).unwrap();
    let mut last = "";
    for _ in 0..FAILURES_TO_OPEN * 2 {
        last = kind(&guarded.find_charge(&txid(), BUDGET).await);
    }
    (router.first(&[]).is_some(), last)
}

#[tokio::test]
async fn refused_records_leave_breaker_closed() {
    for answer in [
        json_reply(200, &cob_with("/txid", Some(json!("99jd8x2m4pe9ktva0c6rzq5w3n")))),
        json_reply(200, &cob_with("/valor/original", Some(json!("x")))),
        json_reply(200, &cob_with("/status", Some(json!("OUTRO")))),
        json_reply(200, &json!([])),
        html(200),
        html(404),
        nome(404, "rota_nao_disponivel"),
        problem(400, "CobConsultaInvalida"),
    ] {
        assert_eq!(after_ten(answer).await, (true, "unknown"));
    }
    // A 403 may come from a firewall that refuses the text of one request.
    assert_eq!(after_ten(html(403)).await, (true, "unavailable"));
}

#[tokio::test]
async fn unanswered_calls_open_breaker() {
    for answer in [html(500), problem(503, "ServicoIndisponivel"), html(429), html(401), Act::Cut] {
        assert_eq!(after_ten(answer).await, (false, "unavailable"));
    }
}

#[tokio::test]
async fn refused_records_do_not_affect_other_orders() {
    let server = Server::start(|seen, _| match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", _) => json_reply(200, &json!({"txid": "another", "idEnvio": "another", "id": "another"})),
        (_, path) if path.contains("/gn/") => json_reply(201, &sent()),
        _ => json_reply(201, &cob_with("/valor/original", Some(json!("10.50")))),
    })
    .await;
    let router = Router::new(vec![Arc::new(efi(&server.url()))]);
    let main = router.first(&[]).unwrap();
    let guarded = router.named(&main).unwrap();
    for _ in 0..FAILURES_TO_OPEN * 2 {
        assert_eq!(kind(&guarded.find_charge(&txid(), BUDGET).await), "unknown");
        assert_eq!(kind(&guarded.find_payout(&instruction_id(), BUDGET).await), "unknown");
        assert_eq!(kind(&guarded.find_refund(&pix(), refund_order().id, BUDGET).await), "unknown");
        assert!(router.issue(&order(), &main, BUDGET).await.is_ok());
        assert_eq!(kind(&guarded.send_payout(&payout_order(), BUDGET).await), "ok");
    }
}

//! Tests refunds: requests, classification of answers, and checks.

use cais_ports::Acquirer as _;
use serde_json::{Value, json};

use super::answers::{asked, refund, refused, woovi};
use crate::answers::{BUDGET, NAME, PIX, changed, html, json_reply, kind, pix, reason, refund_order, returned};
use crate::losses::losses;
use crate::server::Server;

const RTR: &str = "D12345678202611201501bbbbbbbbbbb";

#[tokio::test]
async fn refund_order_is_written_in_woovi_format() {
    let server = Server::start(|_, _| json_reply(200, &refund("IN_PROCESSING"))).await;
    let mut order = refund_order();
    order.description = Some("não\nserviu".to_owned());
    let found = woovi(&server.url()).send_refund(&order, BUDGET).await.unwrap();
    assert_eq!(returned(&found), format!("{NAME} {RTR} 4.00 open ours"));
    let seen = server.seen().remove(0);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/api/v1/refund"));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    let wanted = json!({"correlationID": NAME, "transactionEndToEndId": PIX, "value": 400, "comment": "não serviu"});
    assert_eq!(body, wanted);
    order.amount = cais_domain::money::Money::ZERO;
    assert_eq!(kind(&woovi(&server.url()).send_refund(&order, BUDGET).await), "refused");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn status_of_a_refund_is_mapped() {
    let of_charge = json!({"refund": {
        "status": "CONFIRMED", "value": 400, "correlationID": NAME, "endToEndId": RTR, "time": "2026-11-20T15:01:00Z"
    }});
    // Some documents show the id of the Pix in `endToEndId`.
    let with_pix = changed(of_charge.clone(), "/refund/endToEndId", Some(json!(PIX)));
    for (answer, wanted) in [
        (refund("IN_PROCESSING"), format!("{NAME} {RTR} 4.00 open ours")),
        (refund("REFUNDED"), format!("{NAME} {RTR} 4.00 done 2026-11-20T15:01:00Z ours")),
        (of_charge, format!("{NAME} {RTR} 4.00 done 2026-11-20T15:01:00Z ours")),
        (with_pix, format!("{NAME} - 4.00 done 2026-11-20T15:01:00Z ours")),
        (refund("NOT_ACCOMPLISHED"), format!("{NAME} {RTR} 4.00 failed - ours")),
        (refund("REJECTED"), format!("{NAME} {RTR} 4.00 failed - ours")),
        (refund("SOMETHING_NEW"), format!("{NAME} {RTR} 4.00 open ours")),
        (changed(refund("x"), "/refund/status", None), format!("{NAME} {RTR} 4.00 open ours")),
        (
            json!({"pixTransactionRefund": refund("REFUNDED")["refund"].clone()}),
            format!("{NAME} {RTR} 4.00 done 2026-11-20T15:01:00Z ours"),
        ),
    ] {
        let server = Server::start(move |_, _| json_reply(200, &answer)).await;
        let found = woovi(&server.url()).find_refund(&pix(), refund_order().id, BUDGET).await.unwrap().unwrap();
        assert_eq!(returned(&found), wanted);
        assert_eq!(asked(&server), [format!("GET /refund/{NAME}")]);
    }
}

#[tokio::test]
async fn refusal_of_a_refund_is_classified() {
    for (answer, wanted) in [
        (refused(400, "O valor é maior que o da transação"), "refused"),
        (refused(400, "Saldo insuficiente"), "unavailable"),
        (refused(400, "Já existe um reembolso com o correlationID fornecido"), "unknown"),
        (refused(404, "Not Found"), "unknown"),
        (refused(403, "no"), "unavailable"),
        (html(400), "unknown"),
        (json_reply(200, &changed(refund("REFUNDED"), "/refund/value", Some(json!(401)))), "unknown"),
        (json_reply(200, &changed(refund("REFUNDED"), "/refund/value", Some(json!(4.0)))), "unknown"),
        (json_reply(200, &changed(refund("REFUNDED"), "/refund/correlationID", Some(json!("x")))), "unknown"),
        (json_reply(200, &json!({})), "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = woovi(&server.url()).send_refund(&refund_order(), BUDGET).await;
        assert_eq!((kind(&result), server.methods().as_str()), (wanted, "POST"), "{}", reason(&result));
    }
}

#[tokio::test]
async fn refund_with_lost_reply_is_sent_once() {
    for (name, loss, budget) in losses(&refund("IN_PROCESSING")) {
        let server = Server::start(move |_, _| loss.clone()).await;
        let result =
            woovi(&server.url()).send_refund(&refund_order(), budget.min(std::time::Duration::from_secs(1))).await;
        assert_eq!((kind(&result), server.methods().as_str()), ("unknown", "POST"), "{name}: {}", reason(&result));
    }
}

#[tokio::test]
async fn absent_refund_is_named_so() {
    for (answer, wanted) in [
        (refused(400, "Refund not found"), "none"),
        (refused(400, "Reembolso não encontrado"), "none"),
        (refused(400, "Transaction not found"), "unknown"),
        (html(404), "unknown"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = woovi(&server.url()).find_refund(&pix(), refund_order().id, BUDGET).await;
        assert_eq!(if result == Ok(None) { "none" } else { kind(&result) }, wanted, "{}", reason(&result));
    }
}

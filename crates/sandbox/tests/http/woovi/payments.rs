//! Tests payments in two steps, and in one with `autoApprove`.

use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{MARIA, WooviBed, payment};
use crate::{
    bed::{instant_sends, money, pending_sends},
    receiver::Receiver,
};

#[tokio::test]
async fn payment_moves_money_only_after_approval() {
    let bed = WooviBed::with(pending_sends()).await;
    let before = bed.balance().await;
    let mut body = payment("p-1", 1234, MARIA);
    body["comment"] = json!("order 7");
    body["metadata"] = json!({ "orderId": "7" });
    let created = bed.post("/payment", &body).await;
    let expected = json!({
        "type": "PIX_KEY", "value": 1234, "status": "CREATED", "destinationAlias": MARIA,
        "destinationAliasType": "EMAIL", "comment": "order 7", "correlationID": "p-1",
    });
    assert_eq!((created.status, &created.body), (200, &json!({ "payment": expected })));
    assert_eq!((bed.balance().await, bed.control.ledger().unwrap().sent.count), (before, 0));
    let approved = bed.approve("p-1").await;
    assert_eq!((approved.status, &approved.body["payment"]["status"]), (200, &json!("APPROVED")));
    let transaction = &approved.body["transaction"];
    assert!(transaction["endToEndId"].as_str().unwrap().starts_with('E'));
    assert_eq!(transaction["value"], 1234);
    let destination = &approved.body["destination"];
    assert_eq!((&destination["pixKey"], destination["taxID"].is_string()), (&json!(MARIA), true));
    assert_eq!(bed.balance().await, before - 1234);
    bed.control.set_clock_offset(3_601).unwrap();
    let settled = bed.get("/payment/p-1").await.body;
    assert_eq!(settled["payment"]["status"], "CONFIRMED");
    assert_eq!(settled["transaction"]["endToEndId"], transaction["endToEndId"]);
    let item = bed.control.ledger().unwrap().sent.items[0].clone();
    assert_eq!((item.id_envio.as_str(), item.amount), ("p-1", money("12.34")));
}

#[tokio::test]
async fn automatic_approval_does_both_steps() {
    let bed = WooviBed::with(instant_sends()).await;
    let mut body = payment("p", 100, MARIA);
    body["autoApprove"] = json!(true);
    let answer = bed.post("/payment", &body).await;
    assert_eq!((answer.status, &answer.body["payment"]["status"]), (200, &json!("APPROVED")));
    assert!(answer.body["transaction"]["endToEndId"].is_string());
    assert_eq!(bed.payment_status("p").await, "CONFIRMED");
    assert_eq!(bed.approve("p").await.error(), "Payment is already approved");
    assert_eq!(bed.control.ledger().unwrap().sent.count, 1);
}

#[tokio::test]
async fn used_correlation_id_of_payment_is_refused() {
    let bed = WooviBed::with(instant_sends()).await;
    let repeated = "Já existe um pagamento com o correlationID fornecido";
    assert_eq!(bed.request_payment("p", 100, MARIA).await.status, 200);
    assert_eq!(bed.request_payment("p", 100, MARIA).await.error(), repeated);
    assert_eq!(bed.approve("p").await.status, 200);
    for body in [payment("p", 100, MARIA), payment("p", 200, "other@example.com")] {
        assert_eq!(bed.post("/payment", &body).await.error(), repeated);
    }
    assert_eq!(bed.approve("p").await.error(), "Payment is already approved");
    let ledger = bed.control.ledger().unwrap();
    assert_eq!((ledger.sent.count, ledger.sent.total), (1, money("1.00")));
    let item = &ledger.woovi.payments[0];
    assert_eq!((item.requests, item.approved, item.removed), (4, true, false));
}

#[tokio::test]
async fn approval_above_the_balance_leaves_the_payment_created() {
    let bed = WooviBed::with(instant_sends()).await;
    bed.control.set_balance(money("1.00")).unwrap();
    let refusal = "Você não possui saldo o suficiente para realizar esse pagamento";
    let mut body = payment("p", 101, MARIA);
    body["autoApprove"] = json!(true);
    assert_eq!(bed.post("/payment", &body).await.error(), refusal);
    assert_eq!((bed.payment_status("p").await.as_str(), bed.balance().await), ("CREATED", 100));
    assert_eq!(bed.approve("p").await.error(), refusal);
    bed.control.set_balance(money("1.01")).unwrap();
    assert_eq!(bed.approve("p").await.status, 200);
    assert_eq!((bed.payment_status("p").await.as_str(), bed.balance().await), ("CONFIRMED", 0));
}

#[tokio::test]
async fn bad_payment_is_refused() {
    let bed = WooviBed::start().await;
    let with = |field: &str, value: Value| {
        let mut body = payment("p", 100, MARIA);
        body[field] = value;
        body
    };
    let own = bed.sandbox.credentials().pix_key;
    let cases = [
        (with("correlationID", Value::Null), "correlationID"),
        (with("value", json!(0)), "value"),
        (with("destinationAlias", json!("Maria@Example.com")), "Chave pix inválida"),
        (with("destinationAliasType", json!("CPF")), "Chave pix inválida"),
        (with("destinationAliasType", json!("EVP")), "Chave pix inválida"),
        (with("destinationAlias", json!("11987654321")), "Chave pix inválida"),
        (with("type", json!("BOLETO")), "type"),
        (with("autoApprove", json!("yes")), "autoApprove"),
        (with("unknown", json!(1)), "unknown"),
    ];
    for (body, part) in cases {
        let answer = bed.post("/payment", &body).await;
        assert!(answer.error().contains(part), "{body}: {answer:?}");
    }
    let mut to_self = payment("p", 100, &own);
    to_self["destinationAliasType"] = json!("RANDOM");
    assert_eq!(bed.post("/payment", &to_self).await.error(), "Chave pix inválida");
    assert_eq!(bed.get("/payment/p").await.error(), "Payment not found");
    assert_eq!(bed.approve("p").await.error(), "Payment not found");
    for (alias, kind) in [("52998224725", "CPF"), ("12ABC34501DE35", "CNPJ"), ("+5511987654321", "PHONE")] {
        let mut body = payment(kind, 100, alias);
        body["destinationAliasType"] = json!(kind);
        assert_eq!(bed.post("/payment", &body).await.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn outcome_of_payment_is_published() {
    let bed = WooviBed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.subscribe(&receiver, "OPENPIX:MOVEMENT_CONFIRMED").await;
    bed.subscribe(&receiver, "OPENPIX:MOVEMENT_FAILED").await;
    bed.subscribe(&receiver, "OPENPIX:MOVEMENT_REMOVED").await;
    let before = bed.balance().await;
    bed.request_payment("good", 100, MARIA).await;
    bed.approve("good").await;
    let good = receiver.wait_for(4).await[3].body.clone();
    assert_eq!(good["event"], "OPENPIX:MOVEMENT_CONFIRMED");
    assert_eq!((&good["payment"]["status"], &good["payment"]["correlationID"]), (&json!("CONFIRMED"), &json!("good")));
    assert_eq!(good["transaction"], bed.get("/payment/good").await.body["transaction"]);
    bed.request_payment("bad", 100, "fail@sandbox.cais").await;
    bed.approve("bad").await;
    let bad = receiver.wait_for(5).await[4].body.clone();
    assert_eq!((&bad["event"], &bad["payment"]["status"]), (&json!("OPENPIX:MOVEMENT_FAILED"), &json!("FAILED")));
    assert_eq!(bad["error"], json!({ "code": "PAY_PIX_KEY_ERROR", "description": "Falha ao Pagar Chave Pix" }));
    assert_eq!(bed.balance().await, before - 100);
    bed.request_payment("gone", 100, MARIA).await;
    assert_eq!(bed.control(Method::POST, "/woovi/payment/gone/remove", &json!({})).await.status, 204);
    let gone = receiver.wait_for(6).await[5].body.clone();
    let expected = json!({ "event": "OPENPIX:MOVEMENT_REMOVED", "payment": { "correlationID": "gone" } });
    assert_eq!(gone, expected);
    assert_eq!(bed.get("/payment/gone").await.error(), "Payment not found");
    assert_eq!(bed.approve("gone").await.error(), "Payment not found");
    for (id, status) in [("good", 409), ("gone", 404), ("none", 404)] {
        let answer = bed.control(Method::POST, &format!("/woovi/payment/{id}/remove"), &json!({})).await;
        assert_eq!(answer.status, status, "{id}");
    }
}

#[tokio::test]
async fn approval_for_losing_key_is_done_without_answer() {
    let bed = WooviBed::with(instant_sends()).await;
    bed.request_payment("p", 100, "lost@sandbox.cais").await;
    let request = bed.request(Method::POST, "/payment/approve").json(&json!({ "correlationID": "p" }));
    assert!(!request.send().await.unwrap_err().is_timeout(), "the connection is closed");
    assert_eq!(bed.payment_status("p").await, "CONFIRMED");
}

#[tokio::test]
async fn returned_payment_is_published() {
    let bed = WooviBed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.subscribe(&receiver, "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED").await;
    bed.request_payment("p", 100, MARIA).await;
    let end_to_end_id = bed.approve("p").await.body["transaction"]["endToEndId"].clone();
    assert_eq!(bed.payment_status("p").await, "CONFIRMED");
    let before = bed.balance().await;
    let back = bed.control.return_sent("p", Some(money("0.40"))).unwrap();
    let body = receiver.wait_for(2).await[1].body.clone();
    let refund = &body["refundTransaction"];
    assert_eq!((&refund["endToEndId"], &refund["value"]), (&json!(*back.return_id), &json!(40)));
    assert_eq!((&refund["type"], &refund["partial"]), (&json!("REFUND"), &json!(true)));
    assert_eq!(body["originalTransaction"]["endToEndId"], end_to_end_id);
    let shown = bed.get(&format!("/transaction/{}", back.return_id)).await.body["transaction"].clone();
    assert_eq!(shown, *refund, "the return is read by its own id");
    assert_eq!(bed.balance().await, before + 40);
}

//! Tests returns of a sent Pix: in parts, up to its amount, reported by a callback.

use cais_sandbox::ControlError;
use serde_json::{Value, json};

use crate::{
    bed::{Bed, instant_sends, money},
    receiver::Receiver,
};

const KEY: &str = "maria@example.com";

#[tokio::test]
async fn sent_pix_is_returned_in_parts_up_to_its_amount() {
    let bed = Bed::with(instant_sends()).await;
    let receiver = Receiver::start(&[]).await;
    bed.register_webhook(&receiver.url).await;
    bed.put("/sandbox/saldo", &json!({ "saldo": "10.00" })).await;
    assert_eq!(bed.send("a", "10.00", KEY).await.status, 201);
    receiver.wait_for(1).await;
    assert_eq!(bed.balance().await, "0.00");
    let part = bed.post("/sandbox/sent/a/return", &json!({ "valor": "4.00" })).await;
    assert_eq!((part.status, &part.body["idEnvio"], &part.body["valor"]), (200, &json!("a"), &json!("4.00")));
    let return_id = part.body["rtrId"].as_str().unwrap();
    assert!(return_id.len() == 32 && return_id.starts_with('D'));
    receiver.wait_for(2).await;
    let too_much = bed.post("/sandbox/sent/a/return", &json!({ "valor": "6.01" })).await;
    assert_eq!((too_much.status, too_much.violated()), (400, vec!["valor"]));
    let rest = bed.control.return_sent("a", None).unwrap();
    assert_eq!(rest.amount, money("6.00"));
    assert_eq!(bed.balance().await, "10.00");
    let sent = bed.sent("a").await;
    assert_eq!(sent["status"], "REALIZADO");
    let parts: Vec<_> = sent["devolucoes"].as_array().unwrap().iter().map(|back| &back["valor"]).collect();
    assert_eq!(parts, ["4.00", "6.00"]);
    assert_eq!(sent["devolucoes"][0]["rtrId"], return_id);
    assert!(sent["devolucoes"].as_array().unwrap().iter().all(|back| back["horario"].is_string()));
    let found = receiver.wait_for(3).await;
    let pix = &found[2].body["pix"][0];
    assert_eq!((&pix["gnExtras"], &pix["status"]), (&json!({ "idEnvio": "a" }), &json!("REALIZADO")));
    assert_eq!(pix["devolucoes"], sent["devolucoes"]);
    assert_eq!(bed.post("/sandbox/sent/a/return", &json!({})).await.status, 409, "the whole Pix is returned already");
    let ledger = bed.get("/sandbox/ledger").await.body;
    let back = &ledger["sent_returned"];
    assert_eq!((&back["count"], &back["total"]), (&json!(2), &json!("10.00")));
    assert_eq!(back["items"][1]["rtrId"], &*rest.return_id);
    assert_eq!((&ledger["sent"]["count"], &ledger["saldo"]), (&json!(1), &json!("10.00")));
}

#[tokio::test]
async fn only_a_settled_send_is_returned() {
    let bed = Bed::with(instant_sends()).await;
    bed.send("failed", "1.00", "fail@sandbox.cais").await;
    bed.send("slow", "1.00", "slow@sandbox.cais").await;
    bed.send("paid", "1.00", KEY).await;
    for (id, body, status) in [
        ("failed", json!({}), 409),
        ("slow", json!({}), 409),
        ("nobody", json!({}), 404),
        ("paid", json!({ "valor": "0.00" }), 400),
        ("paid", json!({ "valor": "x" }), 400),
        ("paid", json!({ "x": 1 }), 400),
    ] {
        let answer = bed.post(&format!("/sandbox/sent/{id}/return"), &body).await;
        assert_eq!(answer.status, status, "{id} {body}");
    }
    assert!(matches!(bed.control.return_sent("nobody", None), Err(ControlError::NotFound(_))));
    assert!(matches!(bed.control.return_sent("slow", None), Err(ControlError::InvalidState(_))));
    assert_eq!(bed.sent("paid").await["devolucoes"], Value::Null);
}

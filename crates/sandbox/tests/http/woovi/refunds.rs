//! Tests refunds of charges and of Pix.

use serde_json::{Value, json};

use super::bed::WooviBed;
use crate::{bed::money, receiver::Receiver};

async fn refund(bed: &WooviBed, id: &str, cents: Option<i64>) -> crate::bed::Answer {
    let mut body = json!({ "correlationID": id, "comment": "sorry" });
    if let Some(cents) = cents {
        body["value"] = cents.into();
    }
    bed.post("/charge/a/refund", &body).await
}

#[tokio::test]
async fn refund_of_charge_is_processed_then_confirmed() {
    let bed = WooviBed::start().await;
    bed.paid("a", 1000).await;
    let before = bed.balance().await;
    let answer = refund(&bed, "r-1", Some(300)).await;
    let created = &answer.body["refund"];
    assert_eq!((answer.status, &created["status"], &created["value"]), (200, &json!("IN_PROCESSING"), &json!(300)));
    assert_eq!((&created["correlationID"], &created["comment"]), (&json!("r-1"), &json!("sorry")));
    assert!(created["endToEndId"].as_str().unwrap().starts_with('D'));
    assert_eq!(bed.balance().await, before - 300);
    // Without an amount the whole rest is returned.
    assert_eq!(refund(&bed, "r-2", None).await.body["refund"]["value"], 700);
    bed.control.set_clock_offset(2).unwrap();
    let list = bed.get("/charge/a/refund").await.body["refunds"].clone();
    let shown: Vec<_> = list.as_array().unwrap().iter().map(|refund| (&refund["value"], &refund["status"])).collect();
    assert_eq!(shown, [(&json!(300), &json!("CONFIRMED")), (&json!(700), &json!("CONFIRMED"))]);
    let one = bed.get("/refund/r-1").await.body["pixTransactionRefund"].clone();
    assert_eq!((&one["status"], &one["returnIdentification"]), (&json!("REFUNDED"), &created["endToEndId"]));
    let by_id = bed.get(&format!("/refund/{}", one["refundId"].as_str().unwrap())).await;
    assert_eq!(by_id.body["pixTransactionRefund"], one);
}

#[tokio::test]
async fn bad_refund_is_refused() {
    let bed = WooviBed::start().await;
    bed.charge("a", 1000).await;
    assert_eq!(refund(&bed, "r", None).await.error(), "Charge is not completed");
    let e2e = bed.paid("b", 1000).await;
    let post = async |id: &str, body: Value| bed.post(&format!("/charge/{id}/refund"), &body).await;
    assert!(post("b", json!({})).await.error().contains("correlationID"));
    assert!(post("b", json!({ "correlationID": "r", "value": 1001 })).await.error().contains("exceed"));
    assert!(post("b", json!({ "correlationID": "r", "value": 0 })).await.error().contains("value"));
    assert_eq!(post("none", json!({ "correlationID": "r" })).await.error(), "Charge not found");
    assert_eq!(post("b", json!({ "correlationID": "r", "value": 1 })).await.status, 200);
    // The id of a refund is used once, for any charge.
    bed.paid("c", 1000).await;
    for id in ["b", "c"] {
        assert!(post(id, json!({ "correlationID": "r", "value": 1 })).await.error().contains("Já existe"), "{id}");
    }
    let of_pix = json!({ "transactionEndToEndId": e2e.as_str(), "correlationID": "s" });
    assert!(bed.post("/refund", &of_pix).await.error().contains("value"));
    let unknown = json!({ "transactionEndToEndId": "E0", "correlationID": "s", "value": 1 });
    assert_eq!(bed.post("/refund", &unknown).await.error(), "Transaction not found");
    bed.control.set_balance(money("0.01")).unwrap();
    assert_eq!(post("b", json!({ "correlationID": "t", "value": 2 })).await.error(), "Saldo insuficiente");
    assert_eq!(bed.get("/refund/t").await.error(), "Refund not found");
    bed.control.set_balance(money("100.00")).unwrap();
    bed.control.set_clock_offset(91 * 86_400).unwrap();
    assert!(post("b", json!({ "correlationID": "t", "value": 2 })).await.error().contains("90 days"));
    assert_eq!(bed.control.ledger().unwrap().returned.count, 1);
}

#[tokio::test]
async fn outcome_of_refund_is_published() {
    let bed = WooviBed::start().await;
    let receiver = Receiver::start(&[]).await;
    for event in ["SENT_CONFIRMED", "SENT_REJECTED"] {
        bed.subscribe(&receiver, &format!("PIX_TRANSACTION_REFUND_{event}")).await;
    }
    let e2e = bed.paid("a", 1000).await;
    let of_pix = json!({ "transactionEndToEndId": e2e.as_str(), "correlationID": "r", "value": 100 });
    let created = bed.post("/refund", &of_pix).await.body["refund"].clone();
    assert_eq!(created["status"], "IN_PROCESSING");
    bed.control.set_clock_offset(2).unwrap();
    let sent = receiver.wait_for(3).await[2].body.clone();
    assert_eq!(sent["event"], "PIX_TRANSACTION_REFUND_SENT_CONFIRMED");
    let refund = &sent["refundTransaction"];
    assert_eq!((&refund["endToEndId"], &refund["value"]), (&created["returnIdentification"], &json!(100)));
    assert_eq!((&refund["status"], &refund["partial"]), (&json!("CONFIRMED"), &json!(true)));
    assert_eq!(sent["originalTransaction"]["endToEndId"], e2e.as_str());
    let again = json!({ "transactionEndToEndId": e2e.as_str(), "correlationID": "s", "value": 900 });
    assert_eq!(bed.post("/refund", &again).await.status, 200);
    bed.control.fail_refund(&e2e, "s").unwrap();
    let failed = receiver.wait_for(4).await[3].body.clone();
    assert_eq!(failed["event"], "PIX_TRANSACTION_REFUND_SENT_REJECTED");
    assert_eq!((&failed["refundTransaction"]["status"], failed["error"].is_object()), (&json!("REJECTED"), true));
    assert_eq!(bed.get("/refund/s").await.body["pixTransactionRefund"]["status"], "NOT_ACCOMPLISHED");
    let list = bed.get("/charge/a/refund").await.body["refunds"].clone();
    assert_eq!(list[1]["status"], "REJECTED");
}

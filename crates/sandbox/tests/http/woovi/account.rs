//! Tests the balance and the statement.

use serde_json::json;

use super::bed::{MARIA, WooviBed};
use crate::bed::{instant_sends, money};

#[tokio::test]
async fn account_shows_the_balance() {
    let bed = WooviBed::start().await;
    bed.control.set_balance(money("12.34")).unwrap();
    let list = bed.get("/account/").await;
    let account = &list.body["accounts"][0];
    assert_eq!((list.status, &account["isDefault"]), (200, &json!(true)));
    let balance = &account["balance"];
    assert_eq!(
        (&balance["total"], &balance["blocked"], &balance["available"]),
        (&json!(1234), &json!(0), &json!(1234))
    );
    let id = account["accountId"].as_str().unwrap();
    assert_eq!(bed.get(&format!("/account/{id}")).await.body["account"], *account);
    assert_eq!(bed.get("/account/other").await.error(), "Account not found");
}

#[tokio::test]
async fn statement_leads_to_the_balance() {
    let bed = WooviBed::with(instant_sends()).await;
    bed.control.set_balance(money("10.00")).unwrap();
    let e2e = bed.paid("a", 500).await;
    bed.control.set_clock_offset(60).unwrap();
    bed.request_payment("p", 300, MARIA).await;
    let sent = bed.approve("p").await.body["transaction"]["endToEndId"].clone();
    bed.request_payment("q", 300, "fail@sandbox.cais").await;
    bed.approve("q").await;
    bed.control.set_clock_offset(120).unwrap();
    bed.post("/charge/a/refund", &json!({ "correlationID": "r", "value": 50 })).await;
    bed.control.set_clock_offset(180).unwrap();
    let statement = bed.get("/statement").await.body;
    let rows = statement.as_array().unwrap();
    let shown: Vec<_> = rows.iter().map(|row| (&row["type"], &row["value"], &row["balance"])).collect();
    let (credit, debit) = (json!("CREDIT"), json!("DEBIT"));
    let amounts = [500, 1500, 300, 1200, 50, 1150].map(|cents| json!(cents));
    let [paid, after_paid, out, after_out, back, after_back] = &amounts;
    assert_eq!(shown, [(&credit, paid, after_paid), (&debit, out, after_out), (&debit, back, after_back)]);
    assert_eq!((&rows[0]["transactionId"], &rows[1]["transactionId"]), (&json!(e2e.as_str()), &sent));
    assert_eq!(bed.balance().await, 1150);
    let page = bed.get("/statement?skip=1&limit=1").await.body;
    assert_eq!(page.as_array().unwrap(), &rows[1..2]);
    let until = rows[0]["time"].as_str().unwrap();
    assert_eq!(bed.get(&format!("/statement?end={until}")).await.body.as_array().unwrap(), &rows[..1]);
}

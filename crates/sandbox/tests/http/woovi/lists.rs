//! Tests lists: periods, pages and filters.

use serde_json::{Value, json};

use super::bed::{MARIA, WooviBed};
use crate::bed::instant_sends;

fn ids<'a>(answer: &'a Value, list: &str, path: &str) -> Vec<&'a str> {
    let rows = answer[list].as_array().unwrap();
    rows.iter().map(|row| row.pointer(path).unwrap().as_str().unwrap()).collect()
}

#[tokio::test]
async fn lists_are_paged_from_the_newest() {
    let bed = WooviBed::with(instant_sends()).await;
    for number in 0..3 {
        bed.paid(&format!("c{number}"), 100).await;
        assert_eq!(bed.request_payment(&format!("p{number}"), 100, MARIA).await.status, 200);
        let refund = json!({ "correlationID": format!("r{number}"), "value": 10 });
        assert_eq!(bed.post(&format!("/charge/c{number}/refund"), &refund).await.status, 200);
        bed.control.set_clock_offset(60 * (number + 1)).unwrap();
    }
    let cases = [
        ("/charge?", "charges", "/correlationID", "c"),
        ("/payment?", "payments", "/payment/correlationID", "p"),
        ("/refund?", "refunds", "/correlationID", "r"),
        ("/transaction?type=PAYMENT&", "transactions", "/charge/correlationID", "c"),
        ("/transaction?type=REFUND&", "transactions", "/charge/correlationID", "c"),
    ];
    for (path, list, id, prefix) in cases {
        let page = bed.get(&format!("{path}skip=1&limit=1")).await;
        assert_eq!(page.status, 200, "{page:?}");
        assert_eq!(ids(&page.body, list, id), [format!("{prefix}1")], "{path}");
        let info = json!({ "skip": 1, "limit": 1, "hasPreviousPage": true, "hasNextPage": true });
        assert_eq!(page.body["pageInfo"], info, "{path}");
        let all = bed.get(path).await.body;
        assert_eq!(ids(&all, list, id), ["2", "1", "0"].map(|number| format!("{prefix}{number}")), "{path}");
        assert_eq!((&all["pageInfo"]["limit"], &all["pageInfo"]["hasNextPage"]), (&json!(100), &json!(false)));
        let now = bed.control.ledger().unwrap().now;
        let from = now - jiff::SignedDuration::from_secs(90);
        let recent = bed.get(&format!("{path}start={from}&end={now}")).await.body;
        assert_eq!(ids(&recent, list, id), [format!("{prefix}2")], "{path}");
        for query in ["skip=x", "skip=10001", "limit=0", "start=yesterday", "page=1"] {
            assert_eq!(bed.get(&format!("{path}{query}")).await.status, 400, "{path}{query}");
        }
        assert_eq!(bed.get(&format!("{path}limit=1000")).await.body["pageInfo"]["limit"], 100);
    }
}

#[tokio::test]
async fn transactions_are_filtered_by_type() {
    let bed = WooviBed::with(instant_sends()).await;
    let received = bed.paid("a", 500).await;
    bed.post("/charge/a/refund", &json!({ "correlationID": "r", "value": 50 })).await;
    bed.request_payment("p", 300, MARIA).await;
    let sent = bed.approve("p").await.body["transaction"]["endToEndId"].clone();
    assert_eq!(bed.payment_status("p").await, "CONFIRMED");
    let back = bed.control.return_sent("p", None).unwrap().return_id;
    let list = async |query: &str| bed.get(&format!("/transaction{query}")).await.body["transactions"].clone();
    assert_eq!(list("?type=PAYMENT").await[0]["endToEndId"], received.as_str());
    assert_eq!(list("?type=WITHDRAW").await[0]["endToEndId"], sent);
    let returns = list("?type=REFUND").await;
    let shown = |id: &str| returns.as_array().unwrap().iter().find(|row| row["endToEndId"] == id).cloned().unwrap();
    assert_eq!((&shown(&back)["value"], shown(&back).get("charge")), (&json!(300), None));
    let of_charge = list("?type=REFUND&charge=a").await;
    assert_eq!((of_charge.as_array().unwrap().len(), &of_charge[0]["charge"]["correlationID"]), (1, &json!("a")));
    assert_eq!((returns.as_array().unwrap().len(), list("").await.as_array().unwrap().len()), (2, 4));
    assert_eq!(list("?type=FEE").await, json!([]));
    assert!(bed.get("/transaction?type=PIX").await.error().contains("type"));
}

#[tokio::test]
async fn charges_are_filtered_by_status() {
    let bed = WooviBed::start().await;
    bed.paid("paid", 100).await;
    let long = json!({ "correlationID": "open", "value": 1, "expiresIn": 90_000 });
    assert_eq!(bed.post("/charge", &long).await.status, 200);
    bed.charge("expired", 100).await;
    bed.control.set_clock_offset(86_401).unwrap();
    for (status, expected) in [("ACTIVE", "open"), ("COMPLETED", "paid"), ("EXPIRED", "expired")] {
        let found = bed.get(&format!("/charge?status={status}")).await.body;
        assert_eq!(ids(&found, "charges", "/correlationID"), [expected], "{status}");
    }
    assert!(bed.get("/charge?status=PAID").await.error().contains("status"));
}

//! Tests charges: created, read, prolonged, removed, paid.

use reqwest::Method;
use serde_json::{Value, json};

use super::bed::WooviBed;
use crate::bed::{Bed, eventually};

#[tokio::test]
async fn wrong_app_id_is_refused() {
    let bed = WooviBed::start().await;
    let expected = json!({ "data": null, "errors": [{ "message": "appID inválido" }] });
    let bearer = format!("Bearer {}", bed.credentials.app_id);
    for value in [None, Some("wrong"), Some(bearer.as_str())] {
        let mut request = bed.client.get(format!("{}/api/v1/charge", bed.credentials.base_url));
        if let Some(value) = value {
            request = request.header("authorization", value);
        }
        let answer = crate::bed::read(request.send().await.unwrap()).await;
        assert_eq!((answer.status, &answer.body), (401, &expected), "{value:?}");
    }
}

#[tokio::test]
async fn charge_is_created_with_documented_fields() {
    let bed = WooviBed::start().await;
    let body = json!({
        "correlationID": "order-7/a", "value": 1234, "comment": "coffee", "expiresIn": 600,
        "customer": { "name": "Dan", "taxID": "52998224725", "email": "dan@example.com" },
        "additionalInfo": [{ "key": "Order", "value": "302" }],
    });
    let answer = bed.post("/charge", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let charge = &answer.body["charge"];
    assert_eq!((&answer.body["correlationID"], &answer.body["brCode"]), (&json!("order-7/a"), &charge["brCode"]));
    let txid = charge["transactionID"].as_str().unwrap();
    assert_eq!((txid.len(), charge["identifier"] == *txid), (32, true));
    let expected = json!({
        "value": 1234, "comment": "coffee", "status": "ACTIVE", "correlationID": "order-7/a", "expiresIn": 600,
        "type": "DYNAMIC", "additionalInfo": [{ "key": "Order", "value": "302" }],
        "customer": {
            "name": "Dan", "email": "dan@example.com", "taxID": { "taxID": "52998224725", "type": "BR:CPF" },
        },
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&charge[field], value, "{field}");
    }
    let pix = &charge["paymentMethods"]["pix"];
    assert_eq!((&pix["method"], &pix["txId"], &pix["value"]), (&json!("PIX_COB"), &json!(txid), &json!(1234)));
    assert!(charge["brCode"].as_str().unwrap().starts_with("000201"));
    // Every name finds the same charge; a slash in the path is encoded.
    for id in ["order-7%2Fa", txid, charge["globalID"].as_str().unwrap()] {
        let read = bed.get(&format!("/charge/{id}")).await;
        assert_eq!((read.status, &read.body["charge"]), (200, charge), "{id}");
    }
}

#[tokio::test]
async fn same_charge_is_seen_by_both_apis() {
    let pix = Bed::start().await;
    let woovi = pix.sandbox.woovi_credentials();
    let client = &pix.client;
    let call = async |method: Method, path: &str, body: Value| {
        let request = client.request(method, format!("{}/api/v1{path}", woovi.base_url));
        crate::bed::read(request.header("authorization", &woovi.app_id).json(&body).send().await.unwrap()).await
    };
    let created = call(Method::POST, "/charge", json!({ "correlationID": "a", "value": 500 })).await;
    let txid = created.body["charge"]["transactionID"].as_str().unwrap().to_owned();
    let cob = pix.get(&format!("/v2/cob/{txid}")).await;
    assert_eq!((cob.status, &cob.body["valor"]["original"]), (200, &json!("5.00")));
    assert_eq!(cob.body["pixCopiaECola"], created.body["brCode"]);
    let (own, e2e) = pix.paid(1, "7.00").await;
    let seen = call(Method::GET, &format!("/charge/{own}"), json!({})).await.body["charge"].clone();
    assert_eq!((&seen["status"], &seen["value"]), (&json!("COMPLETED"), &json!(700)));
    assert_eq!(seen["correlationID"], own.as_str());
    let transaction = call(Method::GET, &format!("/transaction/{e2e}"), json!({})).await.body["transaction"].clone();
    assert_eq!((&transaction["endToEndId"], &transaction["value"]), (&json!(e2e.as_str()), &json!(700)));
}

#[tokio::test]
async fn used_correlation_id_is_refused_or_returned() {
    let bed = WooviBed::start().await;
    let first = bed.charge("a", 100).await;
    let other = json!({ "correlationID": "a", "value": 200 });
    let refused = bed.post("/charge", &other).await;
    assert_eq!(refused.error(), "Já existe uma cobrança com o correlationID fornecido");
    // The amount of the request has no effect.
    let existing = bed.post("/charge?return_existing=true", &other).await;
    assert_eq!((existing.status, &existing.body["charge"]), (200, &first));
    let fresh = bed.post("/charge?return_existing=true", &json!({ "correlationID": "b", "value": 200 })).await;
    assert_eq!((fresh.status, &fresh.body["charge"]["value"]), (200, &json!(200)));
    assert_eq!(bed.control.ledger().unwrap().cobs, 2);
}

#[tokio::test]
async fn bad_charge_is_refused() {
    let bed = WooviBed::start().await;
    let cases = [
        (json!({ "value": 100 }), "correlationID"),
        (json!({ "correlationID": "", "value": 100 }), "correlationID"),
        (json!({ "correlationID": "a" }), "value"),
        (json!({ "correlationID": "a", "value": 0 }), "value"),
        (json!({ "correlationID": "a", "value": 1.5 }), "value"),
        (json!({ "correlationID": "a", "value": "100" }), "value"),
        (json!({ "correlationID": "a", "value": 100, "type": "BOLETO" }), "type"),
        (json!({ "correlationID": "a", "value": 100, "expiresIn": 299 }), "expiresIn"),
        (json!({ "correlationID": "a", "value": 100, "expiresDate": "tomorrow" }), "expiresDate"),
        (json!({ "correlationID": "a", "value": 100, "customer": { "name": "Dan" } }), "customer"),
        (json!({ "correlationID": "a", "value": 100, "customer": { "name": "D", "taxID": "1" } }), "taxID"),
        (json!({ "correlationID": "a", "value": 100, "comment": "x".repeat(141) }), "comment"),
        (json!({ "correlationID": "a", "value": 100, "valor": 1 }), "valor"),
        (json!([]), "body"),
    ];
    for (body, part) in cases {
        let answer = bed.post("/charge", &body).await;
        assert!(answer.error().contains(part), "{body}: {answer:?}");
    }
    assert_eq!(bed.get("/charge/a").await.error(), "Charge not found");
    assert_eq!(bed.post("/charge?x=1", &json!({ "correlationID": "a", "value": 1 })).await.status, 400);
    let wrong = bed.post("/charge/a", &json!({})).await;
    assert_eq!((wrong.status, wrong.allow.as_str()), (405, "GET, PATCH, DELETE"));
    let nowhere = bed.get("/nowhere").await;
    assert_eq!((nowhere.status, &nowhere.body), (404, &json!({ "error": "Not Found" })));
}

#[tokio::test]
async fn removed_charge_is_gone_and_keeps_its_id() {
    let bed = WooviBed::start().await;
    let charge = bed.charge("a", 100).await;
    let removed = bed.delete("/charge/a").await;
    assert_eq!((removed.status, &removed.body), (200, &json!({ "status": "OK", "id": "a" })));
    assert_eq!(bed.get("/charge/a").await.error(), "Charge not found");
    assert_eq!(bed.delete("/charge/a").await.error(), "Charge not found");
    assert_eq!(bed.get("/charge").await.body["charges"], json!([]));
    for path in ["/charge", "/charge?return_existing=true"] {
        assert!(bed.post(path, &json!({ "correlationID": "a", "value": 1 })).await.error().contains("Já existe"));
    }
    // A payer may still have the code of a removed charge. The Pix arrives.
    let e2e = bed.pay(&charge, None);
    assert_eq!(bed.get(&format!("/transaction/{e2e}")).await.status, 200);
    assert_eq!(bed.get("/transaction?charge=a").await.body["transactions"][0]["endToEndId"], e2e.as_str());
    assert_eq!(bed.post("/charge/a/refund", &json!({ "correlationID": "r" })).await.status, 200);
    assert_eq!(bed.get("/charge/a/refund").await.body["refunds"][0]["correlationID"], "r");
    bed.paid("b", 100).await;
    assert_eq!(bed.delete("/charge/b").await.error(), "Charge is completed");
    let until = json!({ "expiresDate": "2040-01-01T00:00:00Z" });
    assert_eq!(bed.patch("/charge/b", &until).await.error(), "Charge is completed");
}

#[tokio::test]
async fn payment_completes_the_charge() {
    let bed = WooviBed::start().await;
    let charge = bed.charge("a", 1000).await;
    bed.pay(&charge, Some(400));
    assert_eq!(bed.get("/charge/a").await.body["charge"]["status"], "ACTIVE");
    let before = bed.balance().await;
    let e2e = bed.pay(&charge, None);
    let paid = bed.get("/charge/a").await.body["charge"].clone();
    assert_eq!((&paid["status"], paid["paidAt"].is_string()), (&json!("COMPLETED"), true));
    assert_eq!(bed.balance().await, before + 1000);
    let list = bed.get("/transaction?charge=a").await.body;
    assert_eq!(list["transactions"].as_array().unwrap().len(), 2);
    let newest = &list["transactions"][0];
    assert_eq!((&newest["endToEndId"], &newest["type"]), (&json!(e2e.as_str()), &json!("PAYMENT")));
    assert_eq!((&newest["value"], &newest["charge"]["correlationID"]), (&json!(1000), &json!("a")));
    assert_eq!(bed.get("/transaction/E0").await.error(), "Transaction not found");
    assert_eq!(bed.get("/transaction?charge=b").await.error(), "Charge not found");
}

#[tokio::test]
async fn control_finds_charge_by_correlation_id() {
    let bed = WooviBed::start().await;
    bed.charge("order-1", 100).await;
    let paid = bed.control(Method::POST, "/cob/order-1/pay", &json!({})).await;
    assert_eq!((paid.status, &paid.body["valor"]), (200, &json!("1.00")));
    let ledger = bed.control.ledger().unwrap();
    assert_eq!(ledger.received.items[0].txid, paid.body["txid"].as_str().unwrap());
    bed.charge("order-2", 100).await;
    assert_eq!(bed.control(Method::POST, "/cob/order-2/expire", &json!({})).await.status, 204);
    eventually(async || (bed.get("/charge/order-2").await.body["charge"]["status"] == "EXPIRED").then_some(())).await;
    assert_eq!(bed.control(Method::POST, "/cob/order-3/pay", &json!({})).await.status, 404);
}

//! Tests webhooks: registration, deliveries, repeats and order.

use std::time::Duration;

use cais_sandbox::SandboxConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::WooviBed;
use crate::{
    bed::{eventually, read},
    receiver::Receiver,
};

const BASE: Duration = Duration::from_millis(40);

async fn start() -> WooviBed {
    WooviBed::with(SandboxConfig { callback_retry_base: BASE, ..SandboxConfig::default() }).await
}

async fn set(bed: &WooviBed, settings: Value) {
    assert_eq!(bed.control(Method::PUT, "/woovi/settings", &settings).await.status, 200);
}

async fn delivered(bed: &WooviBed, count: u64) {
    eventually(async || {
        let webhooks = bed.control.ledger().unwrap().woovi.webhooks;
        (webhooks.owed == 0 && webhooks.delivered == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn webhook_is_registered_listed_and_removed() {
    let bed = start().await;
    let receiver = Receiver::start(&[]).await;
    let url = format!("{}/hook", receiver.url);
    let webhook = json!({ "name": "w", "url": url, "authorization": "secret text", "isActive": true });
    let answer = bed.post("/webhook", &json!({ "webhook": webhook })).await;
    let created = &answer.body["webhook"];
    assert_eq!((answer.status, &created["event"]), (200, &json!("OPENPIX:TRANSACTION_RECEIVED")), "the default");
    let test = &receiver.wait_for(1).await[0];
    assert_eq!((test.path.as_str(), test.header("authorization")), ("/hook", Some("secret text")));
    assert_eq!((&test.body["evento"], &test.body["event"]), (&json!("teste_webhook"), &created["event"]));
    assert_eq!(bed.get("/webhook").await.body["webhooks"], json!([created]));
    assert_eq!(bed.get(&format!("/webhook?url={url}")).await.body["webhooks"], json!([created]));
    assert_eq!(bed.get("/webhook?url=http://other").await.body["webhooks"], json!([]));
    let names = bed.get("/webhook/events").await.body["events"].clone();
    assert!(names.as_array().unwrap().contains(&json!({ "name": "OPENPIX:CHARGE_COMPLETED" })));
    let id = created["id"].as_str().unwrap();
    let removed = bed.delete(&format!("/webhook/{id}")).await;
    assert_eq!((removed.status, &removed.body), (200, &json!({ "status": "OK" })));
    assert_eq!(bed.delete(&format!("/webhook/{id}")).await.error(), "Webhook not found");
    bed.paid("a", 100).await;
    delivered(&bed, 1).await;
    assert_eq!(receiver.received().len(), 1);
    for webhook in [
        json!({ "url": url }),
        json!({ "name": "w" }),
        json!({ "name": "w", "url": "ftp://a" }),
        json!({ "name": "w", "url": url, "event": "OPENPIX:NOTHING" }),
        json!({ "name": "w", "url": url, "authorization": "a\nb" }),
    ] {
        assert_eq!(bed.post("/webhook", &json!({ "webhook": webhook })).await.status, 400, "{webhook}");
    }
    assert_eq!(bed.post("/webhook", &json!({})).await.status, 400);
}

#[tokio::test]
async fn payment_of_charge_is_published_to_its_events() {
    let bed = start().await;
    let receiver = Receiver::start(&[]).await;
    for event in ["CHARGE_CREATED", "CHARGE_COMPLETED", "TRANSACTION_RECEIVED"] {
        bed.subscribe(&receiver, &format!("OPENPIX:{event}")).await;
    }
    let charge = bed.charge("a", 1000).await;
    let created = receiver.wait_for(4).await[3].body.clone();
    assert_eq!((&created["event"], &created["charge"]), (&json!("OPENPIX:CHARGE_CREATED"), &charge));
    bed.pay(&charge, Some(1));
    let part = receiver.wait_for(5).await[4].body.clone();
    assert_eq!((&part["event"], &part["pix"]["value"]), (&json!("OPENPIX:TRANSACTION_RECEIVED"), &json!(1)));
    let e2e = bed.pay(&charge, None);
    bed.pay(&charge, None);
    delivered(&bed, 8).await;
    let received = receiver.received();
    let of = |event: &str| -> Vec<_> {
        received.iter().filter(|call| call.body["event"] == event && call.body["pix"].is_object()).collect()
    };
    let completed = of("OPENPIX:CHARGE_COMPLETED");
    assert_eq!(completed.len(), 1, "a charge is completed once");
    let body = &completed[0].body;
    assert_eq!((&body["pix"]["endToEndId"], &body["charge"]["status"]), (&json!(e2e.as_str()), &json!("COMPLETED")));
    assert_eq!(body["charge"]["correlationID"], "a");
    assert_eq!(body["company"]["taxID"], "12345678000195");
    assert_eq!(of("OPENPIX:TRANSACTION_RECEIVED").len(), 3);
}

#[tokio::test]
async fn inactive_webhook_has_its_test_only() {
    let bed = start().await;
    let receiver = Receiver::start(&[]).await;
    let webhook = json!({ "name": "w", "url": receiver.url, "isActive": false });
    assert_eq!(bed.post("/webhook", &json!({ "webhook": webhook })).await.status, 200);
    bed.paid("a", 100).await;
    delivered(&bed, 1).await;
}

#[tokio::test]
async fn refused_delivery_is_repeated_with_growing_pauses() {
    let bed = start().await;
    let receiver = Receiver::start(&[200, 500, 404]).await;
    bed.subscribe(&receiver, "OPENPIX:TRANSACTION_RECEIVED").await;
    bed.paid("a", 100).await;
    let received = receiver.wait_for(4).await;
    delivered(&bed, 2).await;
    for (index, pair) in received[1..].windows(2).enumerate() {
        assert_eq!(pair[0].body["pix"], pair[1].body["pix"]);
        let wait = BASE * 2_u32.pow(u32::try_from(index).unwrap());
        assert!(pair[1].at - pair[0].at >= wait, "attempt {index}");
    }
}

#[tokio::test]
async fn dead_receiver_is_abandoned_after_eight_attempts() {
    let config = SandboxConfig { callback_retry_base: Duration::from_millis(1), ..SandboxConfig::default() };
    let bed = WooviBed::with(config).await;
    let receiver = Receiver::start(&[500; 20]).await;
    let webhook = json!({ "name": "w", "url": receiver.url });
    assert_eq!(bed.post("/webhook", &json!({ "webhook": webhook })).await.status, 200);
    eventually(async || (bed.control.ledger().unwrap().woovi.webhooks.abandoned == 1).then_some(())).await;
    assert_eq!(receiver.received().len(), 8);
}

#[tokio::test]
async fn held_deliveries_are_sent_in_reverse_order() {
    let bed = start().await;
    let receiver = Receiver::start(&[]).await;
    bed.subscribe(&receiver, "OPENPIX:TRANSACTION_RECEIVED").await;
    set(&bed, json!({ "webhooks_paused": true, "webhooks_reversed": true, "webhook_copies": 2 })).await;
    let mut expected = Vec::new();
    for id in ["a", "b", "c"] {
        expected.push(bed.paid(id, 100).await.as_str().to_owned());
    }
    expected.reverse();
    assert_eq!(bed.control.ledger().unwrap().woovi.webhooks.owed, 3);
    set(&bed, json!({ "webhooks_paused": false })).await;
    delivered(&bed, 4).await;
    let received = receiver.received();
    let ids: Vec<&str> = received[1..].iter().map(|call| call.body["pix"]["endToEndId"].as_str().unwrap()).collect();
    let twice: Vec<&str> = expected.iter().flat_map(|id| [id.as_str(), id.as_str()]).collect();
    assert_eq!(ids, twice);
    for settings in [json!({ "webhook_copies": -1 }), json!({ "webhook_signature": "good" }), json!({ "x": 1 })] {
        assert_eq!(bed.control(Method::PUT, "/woovi/settings", &settings).await.status, 400, "{settings}");
    }
}

#[tokio::test]
async fn public_key_needs_no_app_id() {
    let bed = start().await;
    let url = format!("{}/api/v1/webhook/public-keys", bed.credentials.base_url);
    let response = bed.client.get(url).send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "public, max-age=3600");
    let answer = read(response).await;
    let key = &answer.body["public_keys"][0];
    assert_eq!((answer.status, &key["is_current"]), (200, &json!(true)));
    assert_eq!(key["key"], bed.credentials.webhook_public_key);
    assert_eq!(key["key_identifier"].as_str().unwrap().len(), 64);
}

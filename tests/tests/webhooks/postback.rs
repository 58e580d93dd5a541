//! Postbacks of a charge: the named endpoint and the subscribed ones, one delivery each.

use reqwest::Method;
use serde_json::{Value, json};

use super::{deliveries, paid, receiving, register};
use crate::support::{Engine, Receiver, Shop, id, on_both, shared};

on_both! {
    postback_and_subscription_are_one_delivery postback_without_active_endpoint_is_refused
    postback_follows_its_endpoint inactive_and_deleted_endpoints_receive_nothing
}

async fn charge_to(shop: &Shop, url: &str) -> String {
    id(&shop.create(json!({ "amount": 10, "postback_url": url }).to_string()).await.expect(201))
}

async fn pay(shop: &Shop, charge: &str) {
    shop.pay(charge, None).await.expect(200);
    shop.until(charge, "paid").await;
}

async fn postback_and_subscription_are_one_delivery(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (named, named_endpoint) = receiving(&shop, &["payout.failed"]).await;
    let (subscribed, subscribed_endpoint) = receiving(&shop, &["charge.paid"]).await;
    let first = charge_to(&shop, &named.url("/hooks")).await;
    let second = charge_to(&shop, &subscribed.url("/hooks")).await;
    // Subscribed only after the charge was created: still one delivery.
    let third = charge_to(&shop, &named.url("/hooks")).await;
    pay(&shop, &first).await;
    pay(&shop, &second).await;
    let path = format!("/webhook-endpoints/{}", id(&named_endpoint));
    shop.send(Method::PATCH, &path, &json!({ "events": ["*"] })).await.expect(200);
    pay(&shop, &third).await;
    named.until(2).await;
    subscribed.until(3).await;
    assert_eq!(deliveries(&shop, &named_endpoint).await.len(), 2);
    assert_eq!(deliveries(&shop, &subscribed_endpoint).await.len(), 3);
    // Other events of the charge are delivered there too, those of other resources are not.
    let fourth = charge_to(&shop, &subscribed.url("/hooks")).await;
    shop.post(&format!("/charges/{fourth}/cancel")).await.expect(200);
    subscribed.until_kind("charge.cancelled").await;
}

async fn postback_without_active_endpoint_is_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (receiver, endpoint) = receiving(&shop, &["*"]).await;
    let (foreign, _) = receiving(&node.shop(), &["*"]).await;
    let refused = |url: String| {
        let shop = shop.clone();
        async move {
            let reply = shop.create(json!({ "amount": 10, "postback_url": url }).to_string()).await;
            reply.refused(400, "postback_url_not_registered");
        }
    };
    refused(receiver.url("/other")).await;
    refused(foreign.url("/hooks")).await;
    refused("not a url".into()).await;
    refused(receiver.url("/hooks").to_uppercase()).await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    shop.send(Method::PATCH, &path, &json!({ "active": false })).await.expect(200);
    refused(receiver.url("/hooks")).await;
    let long = shop.create(json!({ "amount": 10, "postback_url": "x".repeat(501) }).to_string()).await;
    long.refused(400, "VALIDATION_ERROR");
    assert_eq!(shop.all_charges().await, Vec::<Value>::new());
}

async fn postback_follows_its_endpoint(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (old, endpoint) = receiving(&shop, &["payout.failed"]).await;
    let moves = charge_to(&shop, &old.url("/hooks")).await;
    let new = Receiver::start().await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    shop.send(Method::PATCH, &path, &json!({ "url": new.url("/hooks") })).await.expect(200);
    pay(&shop, &moves).await;
    assert_eq!(new.until(1).await[0].json()["data"]["id"], json!(moves));

    // Deleted and registered again, with another secret, between creation and event.
    let again = charge_to(&shop, &new.url("/hooks")).await;
    assert_eq!(shop.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    let reborn = register(&shop, &new.url("/hooks"), &["payout.failed"]).await;
    pay(&shop, &again).await;
    super::verify(&new.until(2).await[1], &super::secret(&reborn));
    assert!(old.received().is_empty());
}

async fn inactive_and_deleted_endpoints_receive_nothing(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let (stopped, endpoint) = receiving(&shop, &["*"]).await;
    let (deleted, gone) = receiving(&shop, &["*"]).await;
    let first = charge_to(&shop, &stopped.url("/hooks")).await;
    let second = charge_to(&shop, &deleted.url("/hooks")).await;
    let path = format!("/webhook-endpoints/{}", id(&endpoint));
    shop.send(Method::PATCH, &path, &json!({ "active": false })).await.expect(200);
    let gone = format!("/webhook-endpoints/{}", id(&gone));
    assert_eq!(shop.request(Method::DELETE, &gone).send().await.unwrap().status(), 204);
    let (witness, _) = receiving(&shop, &["charge.paid"]).await;
    pay(&shop, &first).await;
    pay(&shop, &second).await;
    paid(&shop, "10").await;
    witness.until(3).await;
    assert!(stopped.received().is_empty() && deleted.received().is_empty());
    assert!(deliveries(&shop, &endpoint).await.iter().all(|delivery| delivery["status"] == "pending"));
    shop.send(Method::PATCH, &path, &json!({ "active": true })).await.expect(200);
    stopped.until(3).await;
}

//! Splits: parts floored, fixed and credited with the payment, and never taken back.

use serde_json::json;

use crate::support::{Engine, centavos, id, on_both, shared};

on_both! { paid_split_is_divided refund_leaves_beneficiaries_their_parts }

async fn paid_split_is_divided(engine: Engine) {
    let node = shared(engine).await;
    let (shop, one, two) = (node.shop(), node.shop(), node.shop());
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "split"]);
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_in", "--fixed", "0.60"]);
    let shop = shop.with_key(&node.key(&shop.email, "all"));
    let body = json!({"amount": 10, "split": [
        {"recipient_email": one.email.to_uppercase(), "percentage": 33.3333},
        {"recipient_email": two.email, "percentage": 10},
    ]});
    let charge = id(&shop.create(body.to_string()).await.expect(201));
    assert_eq!(one.available().await, "0.00", "an unpaid charge credits no share");
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    // Of 9.40: 3.1333… and 0.94, floored; the creator gets the rest.
    assert_eq!((one.available().await.as_str(), two.available().await.as_str()), ("3.13", "0.94"));
    assert_eq!(shop.available().await, "5.33");

    let mine = &shop.get("/transactions").await.expect(200)["data"][0];
    let of = |name: &str| centavos(&mine[name]);
    assert_eq!((of("fee"), of("net_amount"), of("gross_amount")), (60, 533, 1_000));
    let theirs = one.get("/transactions").await.expect(200);
    let credit = &theirs["data"][0];
    assert_eq!(theirs["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&credit["type"], &credit["resource_id"], &credit["status"]),
        (&json!("cash_in"), &json!(null), &json!("completed"))
    );
    assert_eq!((&credit["amount"], &credit["net_amount"]), (&json!(3.13), &json!(3.13)));
    let found = one.get(&format!("/transactions/{}", id(credit))).await.expect(200);
    assert_eq!(&found, credit);
    shop.get(&format!("/transactions/{}", id(credit))).await.refused(404, "not_found");
    for (shop, parts) in [(&one, 1), (&two, 1), (&shop, 0)] {
        let events = shop.all("/events?type=split.received&limit=200").await;
        assert_eq!(events.len(), parts);
        for event in &events {
            let credit = &shop.get("/transactions").await.expect(200)["data"][0];
            assert_eq!(&event["data"], credit, "the transaction as its GET gives it");
            assert_eq!(event["sequence"], json!(1));
        }
    }
    let entry = &one.get("/balance/entries").await.expect(200)["data"][0];
    assert_eq!((&entry["kind"], &entry["resource_id"]), (&json!("split"), &json!(null)));
    one.get(&format!("/charges/{charge}")).await.refused(404, "not_found");
    for shop in [&shop, &one, &two] {
        shop.check_statement().await;
    }
    node.verify();
}

async fn refund_leaves_beneficiaries_their_parts(engine: Engine) {
    let node = shared(engine).await;
    let (shop, other) = (node.shop(), node.shop());
    node.cli(&["account", "features", "--account", &shop.email, "--enable", "split"]);
    let shop = shop.with_key(&node.key(&shop.email, "all"));
    let body = json!({"amount": 10, "split": [{"recipient_email": other.email, "percentage": 50}]});
    let charge = id(&shop.create(body.to_string()).await.expect(201));
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    let path = format!("/charges/{charge}/refunds");
    shop.order(&path, "{}").await.refused(422, "insufficient_balance");
    shop.earn("5").await;
    shop.order(&path, "{}").await.expect(201);
    shop.until(&charge, "refunded").await;
    assert_eq!((shop.available().await.as_str(), other.available().await.as_str()), ("0.00", "5.00"));
    node.verify();
}

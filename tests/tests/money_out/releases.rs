//! Waiting money: in `pending` until the account's delay is over, then available, once.

use reqwest::Method;
use serde_json::json;

use crate::support::{Engine, centavos, eventually, on_both, own};

on_both! { pending_money_is_released_once }

async fn pending_money_is_released_once(engine: Engine) {
    let mut node = own(engine, &[]).await;
    let shop = node.shop();
    node.cli(&["account", "release-delay", "--account", &shop.email, "--seconds", "3600"]);
    let shop = shop.with_key(&node.key(&shop.email, "all"));
    let charge = shop.charge_id("100").await;
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    let balance = shop.get("/balance").await.expect(200);
    let of = |name: &str| centavos(&balance[name]);
    assert_eq!((of("available_balance"), of("pending_balance"), of("total_balance")), (0, 10_000, 10_000));
    shop.pay_out("1", "ana@example.com").await.refused(422, "insufficient_balance");
    node.verify();

    shop.send(Method::PUT, "/sandbox/clock", &json!({"offset_s": 3601})).await.expect(200);
    shop.until_available("100.00").await;
    shop.check_statement().await;
    node.verify();
    node.cais.crash_and_restart().await.unwrap();
    let shop = node.again(&shop);
    shop.until_available("100.00").await;
    let entries = shop.get("/balance/entries?kind=release").await.expect(200);
    assert_eq!(entries["data"].as_array().unwrap().len(), 2, "out of pending and into available: {entries}");
    eventually("no money is pending", || async {
        (centavos(&shop.get("/balance").await.expect(200)["pending_balance"]) == 0).then_some(())
    })
    .await;
    node.verify();
}

//! Lists and drains acquirers, sets their order for an account, and changes a secret while the service runs.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use crate::support::{Engine, Institution, Node, Shop, borrowed, eventually, id, on_both, own};

on_both! {
    drained_acquirer_serves_only_its_open_orders account_order_selects_the_acquirer changed_secret_file_is_used
}

async fn two(engine: Engine) -> (Institution, Institution, Node) {
    let (main, other) = (Institution::start(), Institution::start());
    let environment = [main.environment("main"), other.woovi_environment("other")].concat();
    let node = own(engine, &borrowed(&environment)).await;
    (main, other, node)
}

/// Creates charges until `psp` receives one of them. Returns this charge.
async fn until_charge_at(psp: &Institution, shop: &Shop) -> Value {
    let before = psp.charges().await;
    eventually("a new charge goes to the acquirer", || async {
        let charge = shop.charge("2").await;
        (psp.charges().await > before).then_some(charge)
    })
    .await
}

fn row(node: &Node, name: &str) -> Value {
    let list = node.cli(&["acquirer", "list"]);
    list["data"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
}

/// Returns the text of `/metrics`.
async fn metrics(node: &Node) -> String {
    let page = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
    String::from_utf8(page.body).unwrap()
}

async fn drained_acquirer_serves_only_its_open_orders(engine: Engine) {
    let (main, other, node) = two(engine).await;
    let shop = node.shop();
    let (paid, open) = (shop.charge("100").await, shop.charge("40").await);
    main.pay(paid["txid"].as_str().unwrap()).await;
    shop.until_available("100.00").await;
    let listed = row(&node, "main");
    assert_eq!(
        (&listed["kind"], &listed["breaker"], &listed["drained_since"]),
        (&json!("efi"), &json!("closed"), &Value::Null)
    );
    assert_eq!(listed["operations"], json!(["charges", "payouts", "infractions"]));
    assert_eq!(listed["open"], json!({"charges": 1, "payouts": 0, "refunds": 0, "infractions": 0}));

    let drained = node.cli(&["acquirer", "drain", "main"]);
    assert!(drained["drained_since"].is_string() && drained["unserved"] == json!([]), "{drained}");
    until_charge_at(&other, &shop).await;
    for metric in [r#"cais_acquirer_drained{acquirer="main"} 1"#, r#"cais_acquirer_drained{acquirer="other"} 0"#] {
        assert!(metrics(&node).await.lines().any(|line| line == metric), "{metric}");
    }
    // Charges that `main` received before the drain took effect are open too.
    let open_charges = r#"cais_acquirer_drained_open_orders{acquirer="main",kind="charge"} "#;
    eventually("the open orders are counted", || async {
        let page = metrics(&node).await;
        let shown = page.lines().find_map(|line| line.strip_prefix(open_charges)?.parse::<u32>().ok());
        shown.is_some_and(|count| count > 0).then_some(())
    })
    .await;
    let at_main = main.charges().await;

    // The drained acquirer still serves its own orders: a callback, a dispute with its defense, and a refund.
    let pix = main.pay(open["txid"].as_str().unwrap()).await;
    shop.until_available("140.00").await;
    let dispute = main.dispute(&pix, &json!({})).await;
    let infraction = eventually("the infraction is open", || async {
        let list = shop.get("/infractions?status=open").await.expect(200);
        list["data"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!(row(&node, "main")["open"]["infractions"], 1);
    let defense = json!({"defense_text": "It was delivered."});
    shop.send(reqwest::Method::POST, &format!("/infractions/{}/defense", id(&infraction)), &defense).await.expect(200);
    main.resolve(&dispute, "won").await;
    shop.until_available("140.00").await;
    shop.order(&format!("/charges/{}/refunds", id(&paid)), r#"{"amount":40}"#).await.expect(201);
    eventually("the refund is completed", || async {
        let refunds = shop.refunds(&id(&paid)).await;
        (refunds.len() == 1 && refunds[0]["status"] == "completed").then_some(())
    })
    .await;

    // New orders go to the other acquirer.
    let payout = shop.pay_out("10", "someone@example.com").await.expect(201);
    shop.until_payout(&id(&payout), "completed").await;
    assert_eq!((main.sends().await.len(), other.sends().await.len()), (0, 1));
    shop.charge("2").await;
    assert_eq!(main.charges().await, at_main);
    let listed = row(&node, "main");
    assert_eq!(listed["open"]["infractions"], 0);
    assert!(listed["drained_since"].is_string(), "{listed}");

    let audit = node.cli(&["audit", "list", "--action", "acquirer.drain"]);
    assert_eq!(audit["data"].as_array().unwrap().len(), 1, "{audit}");
    let resumed = node.cli(&["acquirer", "undrain", "main"]);
    assert_eq!(resumed["drained_since"], Value::Null);
    until_charge_at(&main, &shop).await;
    shop.check_statement().await;
    node.verify();
}

async fn account_order_selects_the_acquirer(engine: Engine) {
    let (main, other, node) = two(engine).await;
    let shop = node.shop();
    shop.charge("2").await;
    assert_eq!((main.charges().await, other.charges().await), (1, 0));
    let set = node.cli(&["account", "acquirers", "--account", &shop.email, "--order", "other,main"]);
    assert_eq!(set["acquirers"], json!(["other", "main"]));
    until_charge_at(&other, &shop).await;
    let before = main.charges().await;
    node.shop().charge("2").await;
    assert_eq!(main.charges().await, before + 1, "another account keeps the order of the configuration");
    assert_eq!(node.cli(&["account", "acquirers", "--account", &shop.email, "--default"])["acquirers"], json!([]));
    until_charge_at(&main, &shop).await;
}

async fn changed_secret_file_is_used(engine: Engine) {
    let psp = Institution::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "an old secret").unwrap();
    let mut environment = psp.environment("main");
    environment.retain(|(name, _)| !name.ends_with("CLIENT_SECRET"));
    environment.push(("CAIS_ACQUIRERS__MAIN__CLIENT_SECRET_FILE".to_owned(), file.display().to_string()));
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    shop.create(r#"{"amount":10}"#).await.refused(502, "acquirer_unavailable");
    std::fs::write(&file, psp.credential("client_secret")).unwrap();
    eventually("the new secret is used", || async {
        (shop.create(r#"{"amount":10}"#).await.status == 201).then_some(())
    })
    .await;
}

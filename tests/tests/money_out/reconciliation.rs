//! `cais reconcile`: movements in the acquirer's lists that are missing here, reported, and repaired where safe.

use serde_json::{Value, json};

use crate::support::{AlteringProxy, Engine, Institution, Node, borrowed, eventually, id, on_both, own};

on_both! {
    payment_without_callback_is_found late_return_is_found_under_its_own_day unreadable_row_exits_1_and_the_others_are_credited
}

async fn payment_without_callback_is_found(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    eventually("the callback address is registered", || psp.callback_url()).await;
    let shop = node.shop();
    let charge = shop.charge("100").await;
    let txid = charge["txid"].as_str().unwrap();
    let span = ["--from", charge["created_at"].as_str().unwrap()];
    psp.pay(txid).await;
    shop.until(&id(&charge), "paid").await;
    let payout = shop.pay_out("10", "ana@example.com").await.expect(201);
    shop.until_payout(&id(&payout), "completed").await;

    // The next payment's callback goes to an address without a listener.
    node.cais.kill9().unwrap();
    let missed = psp.pay(txid).await;
    let dry: Value = {
        let (code, printed) =
            node.cais.cli_raw(&[&["reconcile", "--no-repair", "--json"], &span[..]].concat()).unwrap();
        assert_eq!(code, Some(1), "{printed}");
        serde_json::from_str(printed.lines().next_back().unwrap()).unwrap()
    };
    assert_eq!((&dry["received"], &dry["sent"]), (&json!(2), &json!(1)), "{dry}");
    let difference = &dry["differences"][0];
    assert_eq!((&difference["kind"], &difference["repaired"]), (&json!("payment_missed"), &json!(false)), "{dry}");
    assert_eq!(difference["upstream_id"], missed.as_str());

    let repaired = node.cli(&[&["reconcile"], &span[..]].concat());
    assert_eq!(repaired["differences"][0]["repaired"], true, "{repaired}");
    let clean = node.cli(&[&["reconcile"], &span[..]].concat());
    assert_eq!(clean["differences"], json!([]), "{clean}");
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    assert_eq!(shop.available().await, "190.00", "credited once");
    shop.check_statement().await;
    node.verify();

    // An unreadable acquirer is reported, not treated as empty.
    psp.faults("error").await;
    let (code, printed) = node.cais.cli_raw(&[&["reconcile", "--json"], &span[..]].concat()).unwrap();
    assert_eq!(code, Some(2), "{printed}");
}

/// Runs `cais reconcile` on another thread, because this thread runs the acquirer.
async fn reconciled(node: Node, from: &str) -> (Node, Option<i32>, Value) {
    let from = from.to_owned();
    let running = tokio::task::spawn_blocking(move || {
        let (code, printed) = node.cais.cli_raw(&["reconcile", "--json", "--from", &from]).unwrap();
        (node, code, printed)
    });
    let (node, code, printed) = running.await.unwrap();
    let report = printed.lines().find(|line| line.contains("\"differences\"")).unwrap_or_else(|| panic!("{printed}"));
    (node, code, serde_json::from_str(report).unwrap())
}

async fn unreadable_row_exits_1_and_the_others_are_credited(engine: Engine) {
    let psp = Institution::start();
    let upstream = AlteringProxy::before(&psp).await;
    let mut node = own(engine, &borrowed(&upstream.environment(&psp, "main"))).await;
    let shop = node.shop();
    let (one, other) = (shop.charge("100").await, shop.charge("50").await);
    let txid = |charge: &Value| charge["txid"].as_str().unwrap().to_owned();
    // No callback reports the payments, only the list.
    node.cais.kill9().unwrap();
    let (broken, _) = (psp.pay(&txid(&one)).await, psp.pay(&txid(&other)).await);
    let name = broken.clone();
    upstream.alter_answers(move |method, path, _, body| {
        if let ("GET", true, Some(rows)) = (method, path.contains("/v2/pix?"), body["pix"].as_array_mut()) {
            for row in rows.iter_mut().filter(|row| row["endToEndId"] == name.as_str()) {
                row["valor"] = json!("10.5");
            }
        }
    });
    let from = one["created_at"].as_str().unwrap();
    let (node, code, report) = reconciled(node, from).await;
    assert_eq!((code, &report["ok"]), (Some(1), &json!(false)), "{report}");
    let unreadable = report["unreadable"].as_array().unwrap();
    assert_eq!((unreadable.len(), &unreadable[0]["name"]), (1, &json!(broken)), "{report}");
    let repaired: Vec<&Value> = report["differences"].as_array().unwrap().iter().map(|it| &it["repaired"]).collect();
    assert_eq!(repaired, [&json!(true)], "the other payment is credited: {report}");

    upstream.stop_altering();
    let (mut node, code, report) = reconciled(node, from).await;
    assert_eq!((code, &report["unreadable"]), (Some(0), &json!([])), "{report}");
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    assert_eq!(shop.available().await, "150.00", "each payment once");
    node.verify();
}

async fn late_return_is_found_under_its_own_day(engine: Engine) {
    const HOUR_S: i64 = 3_600;
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    eventually("the callback address is registered", || psp.callback_url()).await;
    let shop = node.shop();
    let charge = shop.charge("100").await;
    psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until(&id(&charge), "paid").await;
    let payout = id(&shop.pay_out("10", "ana@example.com").await.expect(201));
    let completed = shop.until_payout(&payout, "completed").await["completed_at"].as_str().unwrap().to_owned();
    let completed: jiff::Timestamp = completed.parse().unwrap();

    // The callback of the return goes to an address without a listener.
    node.cais.kill9().unwrap();
    psp.clock(26 * HOUR_S).await;
    let name = payout.strip_prefix("pyt_").unwrap();
    psp.return_sent(name, &json!({})).await.expect(200);
    let hours = |hours: i64| (completed + jiff::SignedDuration::from_hours(hours)).to_string();
    let day = ["--from", &hours(25), "--to", &hours(27)];

    let (code, printed) = node.cais.cli_raw(&[&["reconcile", "--no-repair", "--json"], &day[..]].concat()).unwrap();
    assert_eq!(code, Some(1), "{printed}");
    let missed: Value = serde_json::from_str(printed.lines().next_back().unwrap()).unwrap();
    let difference = &missed["differences"][0];
    assert_eq!((&difference["kind"], &difference["resource"]), (&json!("payout_outcome"), &json!(payout)), "{missed}");
    let repaired = node.cli(&[&["reconcile"], &day[..]].concat());
    assert_eq!(repaired["differences"][0]["repaired"], true, "{repaired}");
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    assert_eq!(shop.available().await, "100.00", "credited once");
    node.verify();
}

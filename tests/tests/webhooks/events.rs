//! Events as a list: numbered without a gap, so that a consumer can prove completeness.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::paid;
use crate::support::{Engine, Institution, Shop, borrowed, centavos, id, names, on_both, own, shared};

on_both! { extra_payments_are_published_once events_are_numbered_and_found sequences_have_no_gap_under_load_and_crash }

async fn after(shop: &Shop, mut sequence: i64, limit: u32) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let page = shop.get(&format!("/events?after_sequence={sequence}&limit={limit}")).await.expect(200);
        let rows = page["data"].as_array().unwrap().clone();
        let Some(last) = rows.last() else { return all };
        sequence = last["sequence"].as_i64().unwrap();
        all.extend(rows);
        if page["has_more"] == false {
            return all;
        }
    }
}

async fn extra_payments_are_published_once(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.charge_id("10").await;
    for (amount, available) in [("4", "4.00"), ("15", "19.00"), ("10", "29.00")] {
        shop.pay(&charge, Some(amount)).await.expect(200);
        shop.until_available(available).await;
    }
    let events = shop.all("/events?type=payment.unexpected&limit=200").await;
    let facts =
        |event: &Value| (event["data"]["reason"].as_str().unwrap().to_owned(), centavos(&event["data"]["amount"]));
    let seen: Vec<_> = events.iter().rev().map(facts).collect();
    assert_eq!(
        seen,
        [("underpaid", 400), ("overpaid", 500), ("duplicate", 1_000)]
            .map(|(reason, amount)| (reason.to_owned(), amount))
    );
    for event in &events {
        assert_eq!(names(&event["data"]), ["amount", "charge_id", "end_to_end_id", "reason", "received_at"]);
        assert_eq!(event["data"]["charge_id"], json!(charge));
        assert!(event["data"]["received_at"].is_string(), "{event}");
    }
    let entries = shop.statement().await;
    let extra: Vec<_> = entries.iter().filter(|entry| entry["kind"] == "extra_payment").collect();
    let mut pixes: Vec<_> = extra.iter().map(|entry| (&entry["end_to_end_id"], &entry["amount"])).collect();
    pixes.reverse();
    let published: Vec<_> = events.iter().map(|one| (&one["data"]["end_to_end_id"], &one["data"]["amount"])).collect();
    assert_eq!(published, pixes, "each Pix is in the statement with the same amount");
    shop.send(
        Method::POST,
        "/webhook-endpoints",
        &json!({"url": "https://a.example/x", "events": ["payment.unexpected"]}),
    )
    .await
    .expect(201);
    node.verify();
}

async fn events_are_numbered_and_found(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    for amount in ["10", "11", "12"] {
        paid(&shop, amount).await;
    }
    let cancelled = shop.charge_id("13").await;
    shop.post(&format!("/charges/{cancelled}/cancel")).await.expect(200);

    let newest_first = shop.all("/events?limit=2").await;
    let sequences = |events: &[Value]| events.iter().map(|one| one["sequence"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(sequences(&newest_first), [4, 3, 2, 1]);
    let ascending = after(&shop, 0, 3).await;
    assert_eq!(sequences(&ascending), [1, 2, 3, 4]);
    assert_eq!(sequences(&after(&shop, 2, 50).await), [3, 4]);
    assert_eq!(after(&shop, 4, 50).await, Vec::<Value>::new());
    // The cursor continues in the order of the list.
    let page = shop.get("/events?after_sequence=0&limit=2").await.expect(200);
    let next = page["next_starting_after"].as_str().unwrap();
    let rest = shop.get(&format!("/events?after_sequence=0&limit=2&starting_after={next}")).await.expect(200);
    assert_eq!(sequences(rest["data"].as_array().unwrap()), [3, 4]);

    let of_type = shop.all("/events?type=charge.cancelled&limit=200").await;
    assert_eq!(of_type, [newest_first[0].clone()]);
    assert_eq!(of_type[0]["data"]["id"], json!(cancelled));
    for event in &newest_first {
        assert_eq!(shop.get(&format!("/events/{}", id(event))).await.expect(200), *event);
    }
    let stranger = node.shop();
    stranger.get(&format!("/events/{}", id(&newest_first[0]))).await.refused(404, "not_found");
    assert_eq!(stranger.all("/events?limit=200").await, Vec::<Value>::new());
    for (query, path) in [
        ("type=charge.gone", "type"),
        ("after_sequence=-1", "after_sequence"),
        ("after_sequence=1.5", "after_sequence"),
        ("starting_after=evt_01arz3ndektsv4rrffq69g5fav", "starting_after"),
        ("limit=0", "limit"),
        ("since=1", "since"),
    ] {
        let reply = shop.get(&format!("/events?{query}")).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), [path]);
    }
}

async fn sequences_have_no_gap_under_load_and_crash(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    let mut shop = node.shop();
    for round in 0..2 {
        let charges = join_all((0..24).map(|_| shop.charge("2"))).await;
        // All charges are paid at once. Readers, callbacks and workers find the payments in any order, and the service
        // dies in between.
        let paying = charges.iter().map(|charge| psp.pay(charge["txid"].as_str().unwrap()));
        join_all(paying).await;
        let ids: Vec<String> = charges.iter().map(id).collect();
        join_all(ids.iter().take(8).map(|charge| shop.fetch(charge))).await;
        node.cais.crash_and_restart().await.unwrap();
        shop = node.again(&shop);
        join_all(ids.iter().map(|charge| shop.until(charge, "paid"))).await;
        let events = after(&shop, 0, 7).await;
        let expected: Vec<i64> = (1..=24 * (round + 1)).collect();
        assert_eq!(events.iter().map(|one| one["sequence"].as_i64().unwrap()).collect::<Vec<_>>(), expected);
    }
    node.verify();
}

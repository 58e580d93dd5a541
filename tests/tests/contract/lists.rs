//! `GET /charges`: pages, newest first.

use serde_json::Value;

use crate::support::{Engine, Shop, on_both, shared};

on_both! { empty_list_has_no_rows limits unknown_parameters cursors pages_follow_each_other }

async fn bad(shop: &Shop, query: &str, path: &str) {
    let reply = shop.get(&format!("/charges?{query}")).await;
    reply.refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.issues(), [path], "{query}: {}", reply.text());
}

async fn empty_list_has_no_rows(engine: Engine) {
    let shop = shared(engine).await.shop();
    let reply = shop.get("/charges").await;
    assert_eq!(reply.text(), r#"{"data":[],"has_more":false,"next_starting_after":null}"#);
}

async fn limits(engine: Engine) {
    let shop = shared(engine).await.shop();
    for limit in ["1", "200", "50"] {
        shop.get(&format!("/charges?limit={limit}")).await.expect(200);
    }
    for limit in ["0", "201", "-1", "1.5", "abc", "", "1e2", "99999999999999999999", "%00"] {
        bad(&shop, &format!("limit={limit}"), "limit").await;
    }
    bad(&shop, "limit=1&limit=1", "limit").await;
}

async fn unknown_parameters(engine: Engine) {
    let shop = shared(engine).await.shop();
    let charge = shop.charge_id("10").await;
    for name in ["offset", "status", "page", "Limit"] {
        bad(&shop, &format!("{name}=1"), name).await;
    }
    for path in [format!("/charges/{charge}?x=1"), "/balance?x=1".to_owned()] {
        let reply = shop.get(&path).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), ["x"], "{path}");
    }
    let reply = shop.get("/charges?offset=1&limit=0").await;
    let mut paths = reply.issues();
    paths.sort_unstable();
    assert_eq!(paths, ["limit", "offset"]);
}

async fn cursors(engine: Engine) {
    let node = shared(engine).await;
    let (shop, other) = (node.shop(), node.shop());
    let foreign = other.charge_id("10").await;
    for cursor in
        ["", "chg_", "nonsense", "chg_00000000000000000000000000", foreign.as_str(), "pyt_01h455vb4pex5vsknk084sn02q"]
    {
        bad(&shop, &format!("starting_after={cursor}"), "starting_after").await;
    }
    let own = shop.charge_id("10").await;
    bad(&shop, &format!("starting_after={own}&starting_after={own}"), "starting_after").await;
    let page = shop.get(&format!("/charges?starting_after={own}")).await.expect(200);
    assert_eq!(page["data"], Value::Array(Vec::new()));
}

async fn pages_follow_each_other(engine: Engine) {
    let shop = shared(engine).await.shop();
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(shop.charge_id("10").await);
    }
    made.reverse();

    let (mut seen, mut query) = (Vec::new(), "?limit=3".to_owned());
    loop {
        let page = shop.get(&format!("/charges{query}")).await.expect(200);
        let rows = page["data"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        assert_eq!(page["has_more"].as_bool().unwrap(), seen.len() < made.len());
        let Some(next) = page["next_starting_after"].as_str() else { break };
        assert_eq!(Some(next), seen.last().map(String::as_str));
        // Later charges are newer, so they are on no later page.
        shop.charge_id("11").await;
        query = format!("?limit=3&starting_after={next}");
    }
    assert_eq!(seen, made);
    let exact = shop.get(&format!("/charges?limit=4&starting_after={}", made[2])).await.expect(200);
    assert_eq!((exact["data"].as_array().unwrap().len(), &exact["has_more"]), (4, &Value::Bool(false)), "{exact}");
    assert_eq!(exact["next_starting_after"], Value::Null);
    let mut sorted = seen.clone();
    sorted.sort_unstable_by(|left, right| right.cmp(left));
    assert_eq!(seen, sorted, "ids sort by time");
}

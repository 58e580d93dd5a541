//! The timeline: charges and payouts in one list, by the suffix of their ids, with filters.

use serde_json::{Value, json};

use crate::support::{Engine, id, names, on_both, shared};

on_both! { timeline_merges_charges_and_payouts_in_order filters statuses }

async fn timeline_merges_charges_and_payouts_in_order(engine: Engine) {
    let shop = shared(engine).await.shop();
    shop.earn("100").await;
    let mut made = Vec::new();
    for round in 0..6 {
        made.push(if round % 2 == 0 {
            id(&shop.pay_out("1", "ana@example.com").await.expect(201))
        } else {
            shop.charge_id("5").await
        });
    }
    let mut all = Vec::new();
    let mut path = "/transactions?limit=2".to_owned();
    loop {
        let page = shop.get(&path).await.expect(200);
        all.extend(page["data"].as_array().unwrap().clone());
        // Later entries are newer than all following pages.
        shop.charge_id("5").await;
        let Some(next) = page["next_starting_after"].as_str() else { break };
        path = format!("/transactions?limit=2&starting_after={next}");
    }
    let resources: Vec<&str> = all.iter().map(|row| row["resource_id"].as_str().unwrap()).collect();
    made.reverse();
    assert_eq!(resources[..6], made, "newest first");
    assert_eq!(all.len(), 7);
    for row in &all {
        assert_eq!(
            names(row),
            [
                "amount",
                "created_at",
                "fee",
                "gross_amount",
                "id",
                "method",
                "net_amount",
                "origin",
                "resource_id",
                "status",
                "type"
            ]
        );
        assert_eq!((&row["method"], &row["origin"]), (&json!("pix"), &json!("api")));
        let (resource, transaction) = (row["resource_id"].as_str().unwrap(), id(row));
        let prefix = if row["type"] == "cash_in" { ("txn_in_", "chg_") } else { ("txn_out_", "pyt_") };
        assert_eq!(transaction.strip_prefix(prefix.0).unwrap(), resource.strip_prefix(prefix.1).unwrap());
        assert_eq!(&shop.get(&format!("/transactions/{transaction}")).await.expect(200)["id"], &row["id"]);
    }
}

async fn filters(engine: Engine) {
    let shop = shared(engine).await.shop();
    shop.earn("100").await;
    let pending = shop.charge_id("5").await;
    let payout = id(&shop.pay_out("1", "ana@example.com").await.expect(201));
    shop.until_payout(&payout, "completed").await;
    let list = async |query: &str| -> Vec<Value> { shop.all(&format!("/transactions?limit=200&{query}")).await };
    assert_eq!((list("type=cash_in").await.len(), list("type=cash_out").await.len()), (2, 1));
    assert_eq!(list("status=pending").await[0]["resource_id"], pending.as_str());
    assert_eq!((list("status=completed").await.len(), list("status=completed&type=cash_out").await.len()), (2, 1));
    assert_eq!((list("status=failed").await.len(), list("status=refunded").await.len()), (0, 0));
    assert_eq!(list("created_to=2001-01-01").await.len(), 0);
    assert_eq!(list("created_from=2001-01-01&created_to=2999-12-31").await.len(), 3);
    let newest = list("type=cash_out").await[0]["created_at"].as_str().unwrap().to_owned();
    assert_eq!(list(&format!("created_from={newest}")).await.len(), 1);
}

async fn statuses(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let cancelled = shop.charge_id("5").await;
    shop.post(&format!("/charges/{cancelled}/cancel")).await.expect(200);
    let expired = shop.charge_id("5").await;
    shop.post(&format!("/sandbox/charges/{expired}/expire")).await.expect(200);
    shop.until(&expired, "expired").await;
    shop.earn("50").await;
    let failed = id(&shop.pay_out("1", "fail@sandbox.cais").await.expect(201));
    shop.until_payout(&failed, "failed").await;
    let reversed = id(&shop.pay_out("1", "ana@example.com").await.expect(201));
    shop.until_payout(&reversed, "completed").await;
    shop.post(&format!("/sandbox/payouts/{reversed}/reverse")).await.expect(200);
    shop.until_payout(&reversed, "reversed").await;
    let of = async |status: &str| -> Vec<String> {
        let rows = shop.all(&format!("/transactions?limit=200&status={status}")).await;
        rows.iter().map(|row| row["resource_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of("cancelled").await, [expired, cancelled]);
    assert_eq!((of("failed").await, of("refunded").await), (vec![failed], vec![reversed]));
}

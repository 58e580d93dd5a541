//! The statement: every centavo, in order, with stable pages and filters.

use serde_json::{Value, json};

use crate::support::{Engine, centavos, id, names, on_both, shared};

on_both! { statement_explains_every_centavo pages_and_filters }

async fn statement_explains_every_centavo(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    node.cli(&["account", "fees", "--account", &shop.email, "--operation", "pix_out", "--fixed", "0.50"]);
    let charge = shop.create(r#"{"amount":100,"description":"camiseta"}"#).await.expect(201);
    shop.pay(&id(&charge), Some("101.25")).await.expect(200);
    shop.until(&id(&charge), "paid").await;
    let body = r#"{"amount":20,"pix_key":"fail@sandbox.cais","description":"frete"}"#;
    let payout = id(&shop.order("/payouts", body).await.expect(201));
    shop.until_payout(&payout, "failed").await;
    let entries = shop.statement().await;
    let line = |entry: &Value| {
        let words =
            ["kind", "bucket", "resource_id", "description"].map(|name| entry[name].as_str().unwrap_or("-").to_owned());
        format!("{} {} {} {} {}", words[0], words[1], centavos(&entry["amount"]), words[2] == id(&charge), words[3])
    };
    assert_eq!(
        names(&entries[0]),
        [
            "amount",
            "balance_after",
            "bucket",
            "created_at",
            "description",
            "end_to_end_id",
            "id",
            "kind",
            "resource_id"
        ]
    );
    assert_eq!(
        entries.iter().map(line).collect::<Vec<_>>(),
        [
            "charge available 10000 true camiseta",
            "extra_payment available 125 true camiseta",
            "payout available -2000 false frete",
            "fee available -50 false frete",
            "payout_failed available 2000 false frete",
            "fee available 50 false frete",
        ]
    );
    assert!(entries.iter().all(|entry| entry["id"].as_str().unwrap().starts_with("ent_")));
    shop.check_statement().await;
    assert_eq!(node.shop().statement().await, Vec::<Value>::new(), "no rows of others");
}

async fn pages_and_filters(engine: Engine) {
    let shop = shared(engine).await.shop();
    for _ in 0..7 {
        shop.earn("10").await;
    }
    let first = shop.get("/balance/entries?limit=3").await.expect(200);
    assert_eq!((first["data"].as_array().unwrap().len(), &first["has_more"]), (3, &json!(true)));
    shop.earn("10").await;
    let next = first["next_starting_after"].as_str().unwrap();
    let second = shop.get(&format!("/balance/entries?limit=200&starting_after={next}")).await.expect(200);
    assert_eq!(
        (second["data"].as_array().unwrap().len(), &second["has_more"]),
        (4, &json!(false)),
        "no newcomer slips in"
    );
    let count = async |query: &str| shop.all(&format!("/balance/entries?limit=200&{query}")).await.len();
    assert_eq!(count("bucket=available").await, 8);
    assert_eq!((count("bucket=pending").await, count("kind=payout").await, count("kind=charge").await), (0, 0, 8));
    assert_eq!(count("created_from=2001-01-01&created_to=2001-01-02").await, 0);
    assert_eq!(count("created_from=2001-01-01").await, 8);
    let at = shop.statement().await[3]["created_at"].as_str().unwrap().to_owned();
    let (until, from) = (count(&format!("created_to={at}")).await, count(&format!("created_from={at}")).await);
    assert!(until >= 3 && from >= 5 && until + from >= 8, "{until} {from}");
}

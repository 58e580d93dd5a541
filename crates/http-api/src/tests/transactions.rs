//! Tests the timeline over HTTP.

use cais_domain::merchant::account::{Account, Features};
use cais_domain::merchant::api_key::Scopes;
use cais_testkit::builders::an_account;

use super::*;

const TRANSACTIONS: &str = "/v1/transactions";

#[actix_web::test]
async fn timeline_lists_charges_and_payouts_together() {
    let bed = TestBed::new().await;
    let charge = fund(&bed, "25").await;
    let out = post(&bed, "/v1/payouts", "payout-key", r#"{"amount":20,"pix_key":"ana@example.com"}"#).await;
    assert_eq!(out.status, 201);
    assert_eq!(post(&bed, "/v1/charges", "charge-key", r#"{"amount":10}"#).await.status, 201);
    let page = get(&bed, TRANSACTIONS).await;
    assert_eq!((page.status, page.at("/has_more")), (200, false.into()), "{page:?}");
    let rows = page.at("/data").as_array().unwrap().clone();
    let shown = |row: &Value| ["type", "status", "net_amount"].map(|name| row.get(name).unwrap().to_string()).join(" ");
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [r#""cash_in" "pending" 10.00"#, r#""cash_out" "processing" 20.00"#, r#""cash_in" "completed" 25.00"#,]
    );
    let id = page.at("/data/2/id").as_str().unwrap().to_owned();
    assert_eq!(id, charge.replace("chg_", "txn_in_"));
    assert_eq!(page.at("/data/1/id").as_str().unwrap().replace("txn_out_", "pyt_"), out.at("/id").as_str().unwrap());
    assert_eq!(get(&bed, &format!("{TRANSACTIONS}/{id}")).await.json(), page.at("/data/2"));
    let first = get(&bed, &format!("{TRANSACTIONS}?limit=2")).await;
    let next = first.at("/next_starting_after").as_str().unwrap().to_owned();
    assert_eq!(Some(next.as_str()), page.at("/data/1/id").as_str());
    assert_eq!(get(&bed, &format!("{TRANSACTIONS}?starting_after={next}")).await.at("/data/0"), page.at("/data/2"));
    for (query, count) in [
        ("type=cash_out", 1),
        ("type=cash_in&status=completed", 1),
        ("status=refunded", 0),
        ("created_to=2001-01-01T00:00:00Z", 0),
        ("created_from=2001-01-01", 3),
    ] {
        let found = get(&bed, &format!("{TRANSACTIONS}?{query}")).await;
        assert_eq!(found.at("/data").as_array().map(Vec::len), Some(count), "{query}");
    }
    let file = TestRequest::get().uri(TRANSACTIONS).insert_header(("x-api-key", bed.key.as_str()));
    let file = String::from_utf8(send(&bed, file.insert_header(("accept", "text/csv"))).await.body).unwrap();
    let lines: Vec<&str> = file.split("\r\n").collect();
    assert_eq!(
        lines.first(),
        Some(&"id,type,resource_id,amount,fee,net_amount,gross_amount,status,method,origin,created_at")
    );
    assert!(
        lines.get(3).unwrap().starts_with(&format!("{id},cash_in,{charge},25.00,0.00,25.00,25.00,completed,pix,api,")),
        "{file}"
    );
    assert_eq!((lines.len(), lines.last()), (5, Some(&"")));
}

#[actix_web::test]
async fn invalid_transaction_filters_and_ids_are_rejected() {
    let bed = TestBed::new().await;
    let seen = get(
        &bed,
        &format!("{TRANSACTIONS}?type=in&status=paid&created_from=2&created_to=3&starting_after=chg_1&limit=x&y=1"),
    )
    .await;
    let mut paths = seen.paths();
    paths.sort();
    assert_eq!(paths, ["created_from", "created_to", "limit", "starting_after", "status", "type", "y"]);
    let reversed = get(&bed, &format!("{TRANSACTIONS}?created_from=2026-01-02&created_to=2026-01-01")).await;
    assert_eq!(reversed.paths(), ["created_to"]);
    for id in ["nope", "txn_in_1", "chg_01h455vb4pex5vsknk084sn02q", "txn_in_%FF"] {
        assert_eq!(get(&bed, &format!("{TRANSACTIONS}/{id}")).await.paths(), ["id"], "{id}");
    }
    for id in ["txn_in_01h455vb4pex5vsknk084sn02q", "txn_out_01h455vb4pex5vsknk084sn02q"] {
        assert_eq!(get(&bed, &format!("{TRANSACTIONS}/{id}")).await.error(), (404, "not_found".to_owned()));
        assert_eq!(get(&bed, &format!("{TRANSACTIONS}?starting_after={id}")).await.paths(), ["starting_after"]);
    }
    let reader = bed.key_with(Scopes::parse("balance:read,payouts:read").unwrap()).await;
    let seen = send(&bed, TestRequest::get().uri(TRANSACTIONS).insert_header(("x-api-key", reader))).await;
    assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()));
}

#[actix_web::test]
async fn beneficiary_sees_its_share_but_not_the_charge() {
    let features = Features::parse("pix_in,split").unwrap();
    let bed = TestBed::with(Account { features, ..an_account() }, true).await;
    let helper = bed.beneficiary("helper@shop.example").await;
    let body =
        r#"{"amount":10,"external_id":"s","split":[{"recipient_email":"Helper@Shop.Example","percentage":33.3333}]}"#;
    let created = post(&bed, "/v1/charges", "split-key-1", body).await;
    assert_eq!(created.status, 201, "{created:?}");
    let id = created.at("/id").as_str().unwrap().replace("chg_", "txn_in_");
    assert_eq!(
        get(&bed, &format!("{TRANSACTIONS}/{id}")).await.at("/net_amount").to_string(),
        "6.67",
        "before the payment"
    );
    assert_eq!(post(&bed, "/v1/sandbox/charges/ext:s/pay", "", "").await.at("/status"), "paid");
    assert_eq!(get(&bed, &format!("{TRANSACTIONS}/{id}")).await.at("/net_amount").to_string(), "6.67");
    let request = TestRequest::get().uri(TRANSACTIONS).insert_header(("x-api-key", helper.as_str()));
    let seen = send(&bed, request).await;
    let row = seen.at("/data/0");
    assert_eq!(seen.at("/data").as_array().map(Vec::len), Some(1), "{seen:?}");
    assert_eq!(
        (row.get("resource_id"), row.get("net_amount").unwrap().to_string()),
        (Some(&Value::Null), "3.33".to_owned())
    );
    let path = format!("{TRANSACTIONS}/{}", row.get("id").unwrap().as_str().unwrap());
    assert_eq!(send(&bed, TestRequest::get().uri(&path).insert_header(("x-api-key", helper))).await.json(), row);
    assert_eq!(get(&bed, &path).await.status, 404, "the row belongs to the beneficiary");

    let stranger = r#"{"amount":10,"split":[{"recipient_email":"helper@shop.example","percentage":1},{"recipient_email":"nobody@shop.example","percentage":1}]}"#;
    let refused = post(&bed, "/v1/charges", "split-key-2", stranger).await;
    assert_eq!(
        (refused.error(), refused.paths()),
        ((422, "split_recipient_not_eligible".to_owned()), vec!["split[1].recipient_email".to_owned()])
    );
}

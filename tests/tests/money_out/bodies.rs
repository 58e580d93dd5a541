//! `POST /payouts`, refunds and splits: every field at its limits and one past them.

use serde_json::{Value, json};

use crate::support::{Engine, Shop, on_both, shared, unique};

on_both! { payouts refunds splits queries }

async fn bad(shop: &Shop, path: &str, body: &Value, issue: &str) {
    let reply = shop.order(path, body.to_string()).await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "VALIDATION_ERROR"), "{body}\n{}", reply.text());
    assert_eq!(reply.issues(), [issue], "{body}\n{}", reply.text());
}

fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[name] = value;
    body
}

async fn payouts(engine: Engine) {
    let shop = shared(engine).await.shop();
    shop.earn("1000").await;
    let good = json!({"amount": 0.01, "pix_key": "ana@example.com"});
    for (name, value) in [
        ("amount", json!(1e0)),
        ("description", json!("d".repeat(140))),
        ("description", json!(null)),
        ("external_id", json!("e".repeat(120))),
        ("recipient_document", json!("123.456.789-09")),
        ("pix_key_type", json!("email")),
        ("pix_key", json!("123.456.789-09")),
        ("pix_key", json!("12ABC34501DE35")),
        ("pix_key", json!("12abc34501de35")),
        ("pix_key", json!("+55 11 98765-4321")),
        ("pix_key", json!("ANA@EXAMPLE.COM")),
        ("pix_key", json!("123E4567-E12B-12D1-A456-426655440000")),
    ] {
        let reply = shop.order("/payouts", with(&good, name, value.clone()).to_string()).await;
        assert_eq!(reply.status, 201, "{name} {value}: {}", reply.text());
    }
    for (name, value) in [
        ("amount", json!(0)),
        ("amount", json!(0.001)),
        ("amount", json!(-1)),
        ("amount", json!("1")),
        ("amount", json!(null)),
        ("amount", json!(1.005)),
        ("amount", json!(1_000_000_000_000_i64)),
        ("pix_key", json!(null)),
        ("pix_key", json!("")),
        ("pix_key", json!(7)),
        ("pix_key", json!("11987654321")),
        ("pix_key", json!("+55")),
        ("pix_key", json!("+551199")),
        ("pix_key", json!("+5500987654321")),
        ("pix_key", json!("+5511887654321")),
        ("pix_key", json!("123.456.789-00")),
        ("pix_key", json!("a".repeat(78))),
        ("pix_key", json!("ana@")),
        ("pix_key", json!("ana\u{0}@example.com")),
        ("pix_key_type", json!("iban")),
        ("recipient_document", json!("12345678900")),
        ("recipient_document", json!("1".repeat(21))),
        ("description", json!("d".repeat(141))),
        ("description", json!("a\u{7}b")),
        ("external_id", json!("e".repeat(121))),
        ("external_id", json!("")),
        ("surprise", json!(1)),
        ("postback_url", json!("https://example.com")),
    ] {
        bad(&shop, "/payouts", &with(&good, name, value), name).await;
    }
    let mistaken = json!({"amount": 1, "pix_key": "ana@example.com", "pix_key_type": "cpf"});
    bad(&shop, "/payouts", &mistaken, "pix_key").await;
    let hint = shop.order("/payouts", r#"{"amount":1,"pix_key":"11987654321"}"#).await;
    assert!(hint.text().contains("+55"), "digits that fail as CPF are refused with a hint: {}", hint.text());
    for body in ["", "[]", "null", "{", r#"{"amount":1,"amount":2,"pix_key":"ana@example.com"}"#] {
        let reply = shop.order("/payouts", body).await;
        reply.refused(400, "VALIDATION_ERROR");
    }
    let both = shop.order("/payouts", r#"{"amount":0,"pix_key":"x"}"#).await;
    assert_eq!(both.issues(), ["amount", "pix_key"], "all at once");
    let huge = format!(r#"{{"amount":1,"pix_key":"ana@example.com","description":"{}"}}"#, "x".repeat(70_000));
    shop.order("/payouts", huge).await.refused(413, "payload_too_large");
}

async fn refunds(engine: Engine) {
    let shop = shared(engine).await.shop();
    let charge = shop.earn("100").await;
    let path = format!("/charges/{charge}/refunds");
    shop.order(&path, "").await.refused(400, "VALIDATION_ERROR");
    assert_eq!(shop.refunds(&charge).await.len(), 0);
    for body in ["{}", r#"{"amount":null}"#] {
        // The whole rest, twice: the second has no rest.
        let reply = shop.order(&path, body).await;
        assert!(matches!(reply.status, 201 | 409 | 422), "{}", reply.text());
    }
    for (name, value) in [
        ("amount", json!(0)),
        ("amount", json!(-1)),
        ("amount", json!("1")),
        ("amount", json!(0.001)),
        ("reason", json!("r".repeat(141))),
        ("reason", json!(1)),
        ("external_id", json!("e".repeat(121))),
        ("surprise", json!(1)),
    ] {
        bad(&shop, &path, &json!({ name: value }), name).await;
    }
    shop.order("/charges/chg_x/refunds", "{}").await.refused(400, "VALIDATION_ERROR");
    shop.order("/charges/ext:none/refunds", "{}").await.refused(404, "not_found");
    let pending = shop.charge_id("10").await;
    shop.order(&format!("/charges/{pending}/refunds"), "{}").await.refused(409, "invalid_state");
}

async fn splits(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let share = |email: &str, percentage: Value| json!({"recipient_email": email, "percentage": percentage});
    let one = json!({"amount": 10, "split": [share("nobody@example.com", json!(10))]});
    shop.create(one.to_string()).await.refused(403, "split_disabled");
    shop.create(r#"{"amount":10,"split":[]}"#).await.expect(201);
    shop.create(r#"{"amount":10,"split_rule_id":"x"}"#).await.refused(422, "split_not_available");

    node.cli(&["account", "features", "--account", &shop.email, "--enable", "split"]);
    let colleagues: Vec<_> = (0..6).map(|_| node.shop()).collect();
    let emails: Vec<&str> = colleagues.iter().map(|shop| shop.email.as_str()).collect();
    let shop = shop.with_key(&node.key(&shop.email, "all"));
    let body = |split: Value| json!({"amount": 10, "split": split});
    for (split, path) in [
        (json!(1), "split"),
        (json!([1]), "split[0]"),
        (json!([{"percentage": 1}]), "split[0].recipient_email"),
        (json!([{"recipient_email": emails[0]}]), "split[0].percentage"),
        (json!([share(emails[0], json!(0))]), "split[0].percentage"),
        (json!([share(emails[0], json!(-1))]), "split[0].percentage"),
        (json!([share(emails[0], json!(100.0001))]), "split[0].percentage"),
        (json!([share(emails[0], json!(1.00001))]), "split[0].percentage"),
        (json!([share(emails[0], json!("1"))]), "split[0].percentage"),
        (json!([share("no e-mail", json!(1))]), "split[0].recipient_email"),
        (json!([share(&format!("{}@example.com", "x".repeat(200)), json!(1))]), "split[0].recipient_email"),
        (json!([share(emails[0], json!(1)), share(&emails[0].to_uppercase(), json!(1))]), "split[1].recipient_email"),
    ] {
        bad(&shop, "/charges", &body(split), path).await;
    }
    let whole = json!([share(emails[0], json!(60)), share(emails[1], json!(40.0001))]);
    let reply = shop.create(body(whole).to_string()).await;
    reply.refused(400, "VALIDATION_ERROR");
    let six: Vec<Value> = emails.iter().map(|email| share(email, json!(1))).collect();
    shop.create(body(json!(six)).to_string()).await.refused(400, "VALIDATION_ERROR");
    shop.create(body(json!(six[..5])).to_string()).await.expect(201);

    for (who, what) in [(unique("nobody@x.example"), "unknown"), (shop.email.clone(), "the creator")] {
        let reply = shop.create(body(json!([share(emails[0], json!(1)), share(&who, json!(1))])).to_string()).await;
        reply.refused(422, "split_recipient_not_eligible");
        assert!(reply.text().contains("split[1]"), "{what} names the index: {}", reply.text());
    }
    let unapproved = node.unapproved_shop();
    let reply = shop.create(body(json!([share(&unapproved.email, json!(1))])).to_string()).await;
    reply.refused(422, "split_recipient_not_eligible");
    node.cli(&["account", "suspend", "--account", emails[5]]);
    let reply = shop.create(body(json!([share(emails[5], json!(1))])).to_string()).await;
    reply.refused(422, "split_recipient_not_eligible");
}

async fn queries(engine: Engine) {
    let shop = shared(engine).await.shop();
    for path in ["/payouts", "/transactions", "/balance/entries"] {
        for query in [
            "limit=0",
            "limit=201",
            "limit=x",
            "starting_after=",
            "starting_after=chg_x",
            "surprise=1",
            "limit=1&limit=2",
        ] {
            let reply = shop.get(&format!("{path}?{query}")).await;
            assert_eq!(reply.status, 400, "{path}?{query}: {}", reply.text());
            assert_eq!(reply.code(), "VALIDATION_ERROR");
        }
        shop.get(&format!("{path}?limit=200")).await.expect(200);
    }
    for (path, bad) in [
        ("/transactions", "type=pix"),
        ("/transactions", "status=paid"),
        ("/transactions", "created_from=yesterday"),
        ("/transactions", "created_from=2026-02-30"),
        ("/transactions", "created_to=2026-01-01T00:00:00"),
        ("/balance/entries", "bucket=in_transit"),
        ("/balance/entries", "kind=surprise"),
        ("/balance/entries", "created_to=x"),
    ] {
        let reply = shop.get(&format!("{path}?{bad}")).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.issues(), [bad.split_once('=').unwrap().0], "{bad}");
    }
    shop.get("/transactions/txn_in_x").await.refused(400, "VALIDATION_ERROR");
    shop.get("/transactions/txn_in_01m801z3yzedkvzahh8g8wp925").await.refused(404, "not_found");
    shop.get("/payouts/pyt_01m801z3yzedkvzahh8g8wp925").await.refused(404, "not_found");
}

//! Currencies and quotes.

use bigdecimal::BigDecimal;
use reqwest::Method;
use serde_json::{Value, json};

use super::{ADDRESS, crypto_shop, decimal};
use crate::support::{Engine, Institution, Node, borrowed, names, on_both, own, shared};

on_both! {
    currencies_show_both_minimums quote_is_priced_and_shows_its_inputs wrong_quotes_are_refused
    crypto_needs_scope_and_feature accepted_rate_ends_the_refusal_of_quotes
}

const CODES: [&str; 5] = ["trx", "usdtbsc", "btc", "ltc", "usdterc20"];

async fn currencies_show_both_minimums(engine: Engine) {
    let shop = shared(engine).await.shop();
    let listed = shop.get("/crypto/currencies").await.expect(200);
    assert_eq!(names(&listed), ["data"]);
    let rows = listed["data"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["currency"].as_str().unwrap()).collect::<Vec<_>>(), CODES);
    for row in rows {
        assert_eq!(
            names(row),
            ["cash_in", "cash_out", "currency", "min_deposit", "min_withdrawal", "network"],
            "{row}"
        );
        assert_eq!((&row["cash_in"], &row["cash_out"]), (&json!(true), &json!(true)), "{row}");
        for minimum in [&row["min_deposit"], &row["min_withdrawal"]] {
            assert_eq!(names(minimum), ["commercial", "effective", "effective_brl", "technical"]);
            let [commercial, technical, effective] =
                ["commercial", "technical", "effective"].map(|name| decimal(&minimum[name]));
            assert_eq!(effective, commercial.max(technical), "{row}");
            assert!(minimum["effective_brl"].is_number(), "{row}");
        }
    }
    let btc = rows.iter().find(|row| row["currency"] == "btc").unwrap();
    assert_eq!(btc["network"], "bitcoin");
}

async fn quote_is_priced_and_shows_its_inputs(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    node.cli(&["account", "crypto-spread", "--account", &shop.email, "--percent", "2"]);
    for (operation, fixed) in [("crypto_in", "1.50"), ("crypto_out", "2.00")] {
        node.cli(&["account", "fees", "--account", &shop.email, "--operation", operation, "--fixed", fixed]);
    }
    for side in ["deposit", "withdrawal"] {
        let body = json!({ "side": side, "currency": "btc", "amount": 500 });
        let reply = shop.send(Method::POST, "/crypto/quotes", &body).await;
        let quote = reply.expect(201);
        assert_eq!(
            names(&quote),
            [
                "amount",
                "created_at",
                "crypto_amount",
                "currency",
                "expires_at",
                "fee",
                "gross_amount",
                "id",
                "net_amount",
                "network",
                "rate",
                "side"
            ]
        );
        assert!(reply.text().contains(r#""amount":500.00,"#), "{}", reply.text());
        let sums = ["fee", "net_amount", "gross_amount"].map(|name| quote[name].to_string());
        let expected = if side == "deposit" { ["1.50", "498.50", "500.00"] } else { ["2.00", "500.00", "502.00"] };
        assert_eq!(sums, expected, "{quote}");
        let instant = |name: &str| quote[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert_eq!(instant("expires_at").duration_since(instant("created_at")).as_secs(), 60);

        let id = quote["id"].as_str().unwrap();
        let detail = shop.get(&format!("/crypto/quotes/{id}")).await.expect(200);
        for name in names(&quote) {
            assert_eq!(detail[&name], quote[&name], "{name}");
        }
        assert_eq!((&detail["used_by"], &detail["inputs"]["spread"]), (&Value::Null, &json!("2")));
        // The rate follows from its inputs: the market's price, less or plus 2 %.
        let inputs = &detail["inputs"];
        // The price of a purchase follows from 0.01538461 BTC for 1,000 USDT.
        let price = if side == "deposit" { "65000" } else { "65000.022750007963" };
        assert_eq!(inputs["usdt_per_coin"], price, "{side}");
        let market = decimal(&inputs["usdt_per_coin"]) * decimal(&inputs["brl_per_usd"]);
        let factor: BigDecimal = if side == "deposit" { "0.98" } else { "1.02" }.parse().unwrap();
        let (rate, exact) = (decimal(&quote["rate"]), market * factor);
        let unit: BigDecimal = "0.00000001".parse().unwrap();
        assert!((rate - exact).abs() < unit, "{detail}");
        let worth = decimal(&quote["crypto_amount"]) * decimal(&quote["rate"]);
        let amount = BigDecimal::from(500);
        assert!(if side == "deposit" { worth >= amount } else { worth <= amount }, "{detail}");

        let other = crypto_shop(&node);
        other.get(&format!("/crypto/quotes/{id}")).await.refused(404, "not_found");
    }
}

async fn wrong_quotes_are_refused(engine: Engine) {
    let node = shared(engine).await;
    let shop = crypto_shop(&node);
    let ask = async |body: Value| shop.send(Method::POST, "/crypto/quotes", &body).await;
    ask(json!({})).await.refused(400, "VALIDATION_ERROR");
    ask(json!({ "side": "sale", "currency": "btc", "amount": 500 })).await.refused(400, "VALIDATION_ERROR");
    for currency in ["usdttrc20", "usdt", "BTC", "doge"] {
        let reply = ask(json!({ "side": "withdrawal", "currency": currency, "amount": 500 })).await;
        reply.refused(422, "unsupported_currency");
        for code in CODES {
            assert!(reply.text().contains(code), "{}", reply.text());
        }
    }
    let reply = ask(json!({ "side": "withdrawal", "currency": "usdterc20", "amount": 20 })).await;
    reply.refused(422, "amount_below_minimum");
    assert!(reply.text().contains("20 usdterc20"), "{}", reply.text());
    let above = json!({ "side": "deposit", "currency": "btc", "amount": 50_001 });
    ask(above).await.refused(422, "transaction_limit_exceeded");
    shop.get("/crypto/quotes/cqt_01h455vb4pex5vsknk084sn02x").await.refused(404, "not_found");
    shop.get("/crypto/quotes/cdp_01h455vb4pex5vsknk084sn02x").await.refused(400, "VALIDATION_ERROR");
}

async fn crypto_needs_scope_and_feature(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let quote = json!({ "side": "deposit", "currency": "btc", "amount": 500 });
    shop.send(Method::POST, "/crypto/quotes", &quote).await.refused(403, "feature_disabled");
    // The feature is checked before the currency.
    let unknown = json!({ "side": "deposit", "currency": "doge", "amount": 500 });
    shop.send(Method::POST, "/crypto/quotes", &unknown).await.refused(403, "feature_disabled");
    let reader = shop.with_key(&node.key(&shop.email, "crypto:read"));
    reader.get("/crypto/currencies").await.expect(200);
    reader.send(Method::POST, "/crypto/quotes", &quote).await.refused(403, "insufficient_scope");
    let other = shop.with_key(&node.key(&shop.email, "charges:read"));
    other.get("/crypto/currencies").await.refused(403, "insufficient_scope");
}

/// The first quote had a wrong price, so the right price is refused.
async fn accepted_rate_ends_the_refusal_of_quotes(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = crypto_shop(&node);
    let price = async |price: &str| {
        let coin = json!({ "currency": "ltc", "price": price });
        shop.send(Method::PUT, "/sandbox/crypto/coins", &coin).await.expect(200);
    };
    let ask = async || {
        let body = json!({ "side": "deposit", "currency": "ltc", "amount": 3_000 });
        shop.send(Method::POST, "/crypto/quotes", &body).await
    };
    price("800").await;
    let wrong = ask().await.expect(201);
    price("80").await;
    ask().await.refused(503, "service_unavailable");
    let accept = |expected: &str| {
        let note = "the first price was wrong";
        node.cais.cli(&["crypto", "rate", "accept", "--currency", "ltc", "--expect", expected, "--note", note])
    };
    let refused = format!("{:#}", accept("4345.2").unwrap_err());
    assert!(refused.contains("434.52 differs") && refused.contains("4345.2"), "{refused}");
    ask().await.refused(503, "service_unavailable");
    let accepted = accept("430").unwrap();
    assert_eq!((&accepted["currency"], &accepted["rate"]), (&json!("ltc"), &json!("434.52")), "{accepted}");
    assert_eq!(accepted["last_rate"], wrong["rate"], "{accepted}");
    ask().await.expect(201);
    let audit = node.cli(&["audit", "list", "--action", "crypto_rate.accept"]);
    assert!(audit.to_string().contains("the first price was wrong"), "{audit}");
    node.verify();
}

/// Starts a service with `cais sandbox` as acquirer and as crypto processor.
async fn beside(bank: &Institution) -> Node {
    let environment = [bank.environment("main"), bank.crypto_environment()].concat();
    own(Engine::Sqlite, &borrowed(&environment)).await
}

#[tokio::test]
async fn operation_without_a_trusted_price_is_503() {
    let bank = Institution::start();
    let node = beside(&bank).await;
    let shop = crypto_shop(&node);
    let ask = async || {
        let body = json!({ "side": "deposit", "currency": "btc", "amount": 1000 });
        shop.send(Method::POST, "/crypto/quotes", &body).await
    };
    let refused = async |why: &str| {
        let deposit = json!({ "amount": 1000, "currency": "btc" });
        let withdrawal = json!({ "amount": 1000, "currency": "btc", "address": ADDRESS });
        let deposit = shop.order("/crypto/deposits", deposit.to_string()).await;
        let withdrawal = shop.order("/crypto/withdrawals", withdrawal.to_string()).await;
        for reply in [ask().await, deposit, withdrawal] {
            reply.refused(503, "service_unavailable");
            assert!(reply.json()["error"]["retry_after"].is_u64(), "{why}: {}", reply.text());
        }
    };
    ask().await.expect(201);
    // The price of the coin jumps.
    let price = async |price: &str| {
        bank.ask(Method::PUT, "/sandbox/crypto/coins/btc", &json!({ "price": price })).await.expect(200);
    };
    price("650000").await;
    refused("jump").await;
    price("65000").await;
    ask().await.expect(201);
    // The Central Bank has published nothing for weeks.
    let until = |day: Value| json!({ "published_until": day });
    bank.ask(Method::PUT, "/sandbox/ptax", &until(json!("2020-01-02"))).await.expect(200);
    refused("stale").await;
    bank.ask(Method::PUT, "/sandbox/ptax", &until(Value::Null)).await.expect(200);
    ask().await.expect(201);
    // The processor is down.
    bank.ask(Method::PUT, "/sandbox/faults", &json!({ "mode": "error", "acquirer": "crypto" })).await.expect(200);
    refused("down").await;
    shop.get("/crypto/currencies").await.refused(503, "service_unavailable");
    for list in ["/crypto/deposits", "/crypto/withdrawals"] {
        assert_eq!(shop.get(list).await.expect(200)["data"], json!([]));
    }
    node.verify();
}

#[tokio::test]
async fn service_without_a_processor_has_no_crypto() {
    let bank = Institution::start();
    let node = own(Engine::Sqlite, &borrowed(&bank.environment("main"))).await;
    let shop = crypto_shop(&node);
    assert_eq!(shop.get("/crypto/currencies").await.expect(200), json!({ "data": [] }));
    let body = json!({ "side": "deposit", "currency": "btc", "amount": 500 });
    shop.send(Method::POST, "/crypto/quotes", &body).await.refused(403, "feature_disabled");
}

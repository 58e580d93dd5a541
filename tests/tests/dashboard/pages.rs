//! Every page in Chromium, in both languages: see [`User::check`]. Pages with parameters are checked by the flows too.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use reqwest::Method;
use serde_json::{Value, json};

use super::browser::{User, text};
use super::routes::plain_pages;
use crate::support::{Behavior, Receiver, id};

/// The pages with parameters that are checked here.
pub const CHECKED: [&str; 2] = ["/operator/accounts/{id}", "/operator/infractions/{id}"];
/// The pages that operators share with merchants, and a filter.
const OPERATOR: [&str; 4] = ["/", "/sessions", "/password", "/operator/accounts?kyc=pending"];

/// Gives the account records of every kind, so that no list is empty. Returns the receiver of its webhooks.
async fn fill(user: &User) -> Receiver {
    let shop = user.approve();
    user.node.cli(&["account", "features", "--account", &user.email, "--enable", "crypto_in,crypto_out"]);
    let receiver = Receiver::start_with(Behavior::status(500)).await;
    let url = receiver.url("/integrations/cais/webhooks/shop-of-the-center?environment=production&version=2");
    shop.send(Method::POST, "/webhook-endpoints", &json!({ "url": url, "events": ["*"] })).await.expect(201);
    let body = r#"{"amount":5000.00,"external_id":"order-2026-000017","description":"Dois cafés e um pão de queijo",
        "payer_name":"Maria Aparecida da Conceição","payer_document":"12345678909"}"#;
    let charge = id(&shop.create(body).await.expect(201));
    shop.pay(&charge, None).await.expect(200);
    shop.until(&charge, "paid").await;
    shop.pay(&charge, Some("7.00")).await.expect(200);
    shop.order(&format!("/charges/{charge}/refunds"), r#"{"amount":12.34,"reason":"Um café veio frio"}"#).await;
    shop.charge("49999.99").await;
    shop.pay_out("12.50", "joao@bank.example").await.expect(201);
    let failed = id(&shop.pay_out("30.00", "fail@sandbox.cais").await.expect(201));
    shop.until_payout(&failed, "failed").await;
    let disputed = shop.earn("80.00").await;
    shop.send(Method::POST, &format!("/sandbox/charges/{disputed}/infraction"), &json!({})).await.expect(201);
    receiver.until_kind("payment.unexpected").await;
    receiver
}

async fn merchant_pages_pass(language: &'static str) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    let _receiver = fill(&user).await;
    for path in plain_pages(false) {
        user.visit(&path, &format!("merchant{path}")).await;
    }
}

async fn operator_pages_pass(language: &'static str) {
    let mut user = User::new(language).await;
    let made = user.node.cli(&["operator", "create", "--email", &user.email]);
    user.follow(text(&made, "one_time_url")).await;
    let shop = user.node.unapproved_shop();
    let accounts = user.node.cli(&["account", "list"]);
    let listed = accounts.get("data").and_then(Value::as_array).unwrap();
    let account = listed.iter().find(|account| text(account, "email") == shop.email).unwrap();
    let account = format!("/operator/accounts/{}", text(account, "id"));
    for path in OPERATOR.map(str::to_owned).into_iter().chain(plain_pages(true)) {
        user.visit(&path, &format!("operator{path}")).await;
    }
    user.visit(&account, "operator-account").await;
    let shop = user.node.shop();
    let charge = shop.earn("80.00").await;
    let path = format!("/sandbox/charges/{charge}/infraction");
    let infraction = id(&shop.send(Method::POST, &path, &json!({})).await.expect(201));
    user.visit(&format!("/operator/infractions/{infraction}"), "operator-infraction").await;
    user.assert_checked(&CHECKED);
    user.open("/keys").await;
    user.check_failure("operator-not-found", 404).await;
}

#[tokio::test]
async fn merchant_pages_pass_axe_in_portuguese() {
    merchant_pages_pass("pt-BR").await;
}

#[tokio::test]
async fn merchant_pages_pass_axe_in_english() {
    merchant_pages_pass("en").await;
}

#[tokio::test]
async fn operator_pages_pass_axe_in_portuguese() {
    operator_pages_pass("pt-BR").await;
}

#[tokio::test]
async fn operator_pages_pass_axe_in_english() {
    operator_pages_pass("en").await;
}

#[tokio::test]
async fn checks_report_a_broken_page() {
    let user = User::new("en").await;
    user.check("login").await;
    assert_eq!(user.violations().await, json!([]));
    user.run("document.querySelector('main').innerHTML += '<img src=data:,><p id=wide>wide</p>'").await;
    assert!(user.violations().await.to_string().contains("image-alt"));
    assert_eq!(user.overflows().await, json!([]));
    user.run("document.querySelector('#wide').style.width = '5000px'").await;
    assert!(user.overflows().await.to_string().contains("wide"));
    user.console().await;
    user.open("/login").await;
    assert_eq!((user.shifts().await, user.console().await), (json!([]), Vec::new()));
    user.run("document.querySelector('main').insertAdjacentHTML('afterbegin', '<h2>Late</h2><h2>Late</h2>')").await;
    assert!(user.shifts().await.to_string().contains("form"));
    user.run("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">styled</p>')").await;
    assert!(user.console().await.concat().contains("Content Security Policy"));
}

//! The ways of users through the dashboard in Chromium.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;

use super::browser::{User, text};
use crate::support::Shop;

/// The pages before the end of a login.
pub const BEFORE_LOGIN: [&str; 4] = ["/login", "/login/code", "/login/enrol", "/signup"];
/// The other pages with parameters that the flows check.
pub const CHECKED: [&str; 3] = ["/confirm/{id}", "/keys/{prefix}/revoke", "/welcome/{token}"];

/// A merchant signs up and uses an API key of the dashboard, in one language.
async fn shop_signs_up_and_uses_its_key(language: &'static str) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    assert!(user.text(".notice").await.len() > 10, "KYC is pending");
    user.node.cli(&["account", "approve", "--account", &user.email]);
    user.open("/").await;
    user.wait_until("return !document.querySelector('.notice')").await;
    assert!(user.text("#available").await.starts_with("R$ 0"));

    user.open("/keys/new").await;
    user.fill("[name=name]", "caixa").await;
    user.click("[name=scope][value='balance:read']").await;
    user.submit().await;
    user.confirm().await;
    user.check("key-created").await;
    let key = user.text("#key").await;
    let shop = Shop::new(user.node.base(), user.email.clone(), key.clone());
    assert_eq!(shop.get("/balance").await.status, 200);
    assert_eq!(shop.get("/payouts").await.status, 403, "only the chosen scope");
    // A reload of the page asks for the form again, so the user opens the address: the key is never shown by GET.
    let path = user.path().await;
    user.open(&path).await;
    user.check("confirmed").await;
    assert!(!user.text("main").await.contains(&key));
    user.open("/charges/x").await;
    user.check_failure("failure", 404).await;
    user.open("/keys").await;
    user.check("keys-with-a-key").await;
    let secret = key.rsplit('_').next().unwrap();
    assert!(!user.text("main").await.contains(secret));
    let revoke = format!("/keys/{}/revoke", key.split('_').nth(1).unwrap());
    user.visit(&revoke, "key-revoke").await;

    user.open("/sessions").await;
    user.click("form[action$='/end'] button").await;
    user.open("/").await;
    user.arrive("/login").await;
    user.enter_password().await;
    user.arrive("/login/code").await;
    user.check("code").await;
    user.enter_code().await;
    user.arrive("/").await;
    user.click("form[action='/logout'] button").await;
    user.arrive("/login").await;
    let rows = user.node.cli(&["audit", "list", "--account", &user.email, "--by", &user.email]);
    let rows = rows.get("data").and_then(Value::as_array).unwrap();
    let actions: Vec<&str> = rows.iter().map(|row| text(row, "action")).collect();
    assert_eq!(actions, ["key.create", "user.enrol_totp", "account.create"]);
    user.assert_checked(&BEFORE_LOGIN);
    user.assert_checked(&["/confirm/{id}", "/keys/{prefix}/revoke"]);
}

#[tokio::test]
async fn shop_signs_up_and_uses_its_key_in_portuguese() {
    shop_signs_up_and_uses_its_key("pt-BR").await;
}

#[tokio::test]
async fn shop_signs_up_and_uses_its_key_in_english() {
    shop_signs_up_and_uses_its_key("en").await;
}

#[tokio::test]
async fn operator_approves_kyc_in_the_browser() {
    let mut user = User::new("pt-BR").await;
    let shop = user.node.unapproved_shop();
    shop.create("{\"amount\":10}").await.refused(403, "kyc_not_approved");
    let made = user.node.cli(&["operator", "create", "--email", &user.email]);
    user.follow(text(&made, "one_time_url")).await;
    user.assert_checked(&["/welcome/{token}"]);
    user.click("main a[href='/operator/accounts?kyc=pending']").await;
    user.click("main tbody a").await;
    user.click("#approve button").await;
    user.confirm().await;
    user.wait_until("return location.search === '?changed' && document.querySelector('#kyc') !== null").await;
    assert_eq!(user.text("#kyc").await, "aprovado");
    shop.charge("10").await;
    let rows = user.node.cli(&["audit", "list", "--account", &shop.email, "--by", &user.email]);
    assert_eq!(rows.pointer("/data/0/action"), Some(&Value::from("account.approve")), "{rows}");
    assert_eq!(rows.pointer("/data/0/source"), Some(&Value::from("dashboard")), "{rows}");
}

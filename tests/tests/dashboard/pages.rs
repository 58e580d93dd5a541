//! Every page in Chromium, in both languages: see [`User::check`].

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use super::browser::{User, text};

/// The pages of a merchant.
const MERCHANT: [&str; 5] = ["/", "/keys", "/keys/new", "/sessions", "/password"];
/// The pages of an operator. `{account}` stands for the id of an account.
const OPERATOR: [&str; 11] = [
    "/",
    "/sessions",
    "/password",
    "/operator/accounts",
    "/operator/accounts?kyc=pending",
    "/operator/accounts/{account}",
    "/operator/audit",
    "/operator/callbacks",
    "/operator/acquirers",
    "/operator/infractions",
    "/operator/crypto",
];

async fn merchant_pages_pass(language: &'static str) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    user.node.cli(&["account", "approve", "--account", &user.email]);
    for path in MERCHANT {
        user.open(path).await;
        assert_eq!(user.path().await, path);
        user.check(&format!("merchant{path}")).await;
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
    for path in OPERATOR {
        let full = path.replace("{account}", text(account, "id"));
        user.open(&full).await;
        assert_eq!(user.path().await, full);
        user.check(&format!("operator{path}")).await;
    }
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
}

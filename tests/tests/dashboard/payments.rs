//! Charges in Chromium: created, paid while their pages are open, and refunded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::browser::User;

/// The pages that the flow checks.
pub const CHECKED: [&str; 3] = ["/charges/{id}", "/refunds/confirm/{id}", "/pay/{token}"];

const ON_CHARGE: &str =
    "return document.readyState === 'complete' && /^\\/charges\\/chg_[0-9a-z]+$/.test(location.pathname)";

const ON_REFUND: &str =
    "return document.readyState === 'complete' && location.pathname.startsWith('/refunds/confirm/')";

/// Creates a charge by the form. Returns the path of its page.
async fn create(user: &User, amount: &str) -> String {
    user.open("/charges/new").await;
    user.fill("[name=amount]", amount).await;
    user.fill("[name=description]", "Dois cafés e um pão de queijo para a mesa do canto").await;
    user.fill("[name=payer_document]", "123.456.789-09").await;
    user.submit().await;
    user.wait_until(ON_CHARGE).await;
    user.path().await
}

/// Pays a charge in the sandbox as another browser would, while a page of the charge stays open.
async fn pay_elsewhere(user: &User, page: &str) {
    let options = "{ method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }";
    user.run(&format!("fetch('{page}/pay', {options})")).await;
}

async fn charge_is_paid_live_and_refunded(language: &'static str) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    user.node.cli(&["account", "approve", "--account", &user.email]);
    user.open("/transactions").await;
    user.check("transactions-empty").await;
    user.open("/charges/new").await;
    user.check("charge-new").await;
    user.fill("[name=amount]", "1").await;
    user.submit().await;
    user.wait_until("return Boolean(document.querySelector('.error'))").await;
    user.check_failure("charge-new-refused", 422).await;

    let charge = create(&user, "12,34").await;
    let link = user.text("#link").await;
    let page = link.strip_prefix(&user.node.base()).unwrap().to_owned();
    pay_elsewhere(&user, &page).await;
    user.wait_until("return Boolean(document.querySelector('#status.good')) && !document.querySelector('#code')").await;
    user.check("charge-paid").await;
    user.fill("[name=amount]", "2,34").await;
    user.fill("[name=reason]", "Um café veio frio").await;
    user.submit().await;
    user.wait_until(ON_REFUND).await;
    user.check("refund-confirm").await;
    user.submit().await;
    user.wait_until("return document.readyState === 'complete' && document.querySelectorAll('table code').length > 0")
        .await;

    let open = create(&user, "1.234,56").await;
    let link = user.text("#link").await;
    let page = link.strip_prefix(&user.node.base()).unwrap().to_owned();
    user.visit(&open, "charge-open").await;
    user.visit(&page, "pay-open").await;
    pay_elsewhere(&user, &page).await;
    user.wait_until("return document.querySelector('main').dataset.state === 'paid'").await;
    user.visit(&page, "pay-paid").await;
    create(&user, "99,90").await;
    user.visit("/transactions", "transactions").await;
    user.fill("[name=q]", "12345678909").await;
    user.submit().await;
    user.wait_until("return location.search.includes('q=') && document.querySelectorAll('tbody tr').length === 3")
        .await;
    user.check("transactions-found").await;
    assert!(user.text("tbody").await.contains("R$"));
    user.visit(&charge, "charge-refunded").await;
    user.assert_checked(&CHECKED);
}

#[tokio::test]
async fn charge_is_paid_live_and_refunded_in_portuguese() {
    charge_is_paid_live_and_refunded("pt-BR").await;
}

#[tokio::test]
async fn charge_is_paid_live_and_refunded_in_english() {
    charge_is_paid_live_and_refunded("en").await;
}

//! Clicks that the scripts of the dashboard guard: a double click, and a click that opens a part of a page that refreshes itself.

use std::time::Duration;

use super::browser::User;

/// The delay of each response while a user clicks twice.
const LATENCY: Duration = Duration::from_secs(1);
/// Clicks the button of the page's own form twice, with a pause in which the first form reaches the server.
const DOUBLE_CLICK: &str = "
    const button = document.querySelector('main form button');
    button.click();
    setTimeout(() => button.click(), 400);";

#[tokio::test]
async fn double_click_shows_the_new_key() {
    let mut user = User::new("pt-BR").await;
    user.sign_up().await;
    user.approve();
    user.open("/keys/new").await;
    user.fill("[name=name]", "caixa").await;
    user.click("[name=scope][value='balance:read']").await;
    user.submit().await;
    user.arrive_below("/confirm/").await;
    user.fill_code().await;
    user.set_latency(LATENCY).await;
    user.run(DOUBLE_CLICK).await;
    user.wait_until("return document.querySelector('[name=code]') === null && document.readyState === 'complete'")
        .await;
    assert!(user.text("#key").await.starts_with("key_"));
    // A restored page can send its form again.
    user.set_latency(Duration::ZERO).await;
    user.open("/keys/new").await;
    user.run("document.querySelector('main form').dataset.sent = '1'; dispatchEvent(new Event('pageshow'))").await;
    user.fill("[name=name]", "caixa 2").await;
    user.click("[name=scope][value='balance:read']").await;
    user.submit().await;
    user.arrive_below("/confirm/").await;
}

#[tokio::test]
async fn opened_details_stay_open_when_the_page_refreshes_itself() {
    let mut user = User::new("pt-BR").await;
    user.sign_up().await;
    let shop = user.approve();
    shop.earn("50.00").await;
    let payout = shop.pay_out("12.50", "slow@sandbox.cais").await.expect(201);
    user.open(&format!("/payouts/{}", crate::support::id(&payout))).await;
    user.run("document.querySelector('#live').classList.add('first'); document.querySelector('#raw').open = true")
        .await;
    user.wait_until("return document.querySelector('#live.first') === null").await;
    user.wait_until("return document.querySelector('#raw[open]') !== null").await;
}

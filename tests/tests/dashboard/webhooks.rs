//! A merchant registers a webhook endpoint, finds a failed delivery and sends it again in Chromium.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::browser::User;
use crate::support::{Behavior, Receiver};

/// The pages that the flow checks.
pub const CHECKED: [&str; 3] = ["/webhooks/{id}", "/webhooks/{id}/delete", "/events/{id}"];

/// A path that is wider than a phone without a place to break.
const LONG_PATH: &str = "/integrations/production/cais/webhooks/receiver_of_the_shop_in_the_center_of_the_city";

/// A receiver that fails. Its answer is HTML, which pages must show as text.
fn failing() -> Behavior {
    Behavior::Answers(500, Vec::new(), b"<b>disk full</b>".to_vec())
}

/// Waits until the newest delivery has a status, without a new load by the user, and this number of attempts.
async fn until_newest(user: &User, status: &str, attempts: usize) {
    user.wait_until(&format!(
        "const card = document.querySelector('#deliveries .card');
        return card?.querySelector('h3 span').textContent === '{status}'
            && card.querySelectorAll('tbody tr').length === {attempts}"
    ))
    .await;
}

async fn failed_webhook_is_sent_again(language: &'static str, [pending, succeeded, failed]: [&str; 3]) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    let shop = user.approve();
    let receiver = Receiver::start_with(failing()).await;
    user.open("/webhooks").await;
    user.check("webhooks-empty").await;
    user.click("main a.button").await;
    user.arrive("/webhooks/new").await;
    user.fill("[name=url]", &receiver.url(LONG_PATH)).await;
    user.fill("[name=description]", "Sistema de estoque da loja do centro").await;
    user.click("[name=event][value='*']").await;
    user.click("[name=event][value='charge.paid']").await;
    user.submit().await;
    assert!(user.text("#secret").await.starts_with("whsec_"));
    user.check("webhook-secret").await;
    user.click("main a.button").await;
    let endpoint = user.arrive_below("/webhooks/whe_").await;

    let charge = shop.earn("80.00").await;
    // The attempt and the first retry of the schedule. The next retry is minutes away.
    receiver.until(2).await;
    user.open(&endpoint).await;
    until_newest(&user, pending, 2).await;
    user.check("webhook-failing").await;
    user.visit("/", "home-with-failing-webhook").await;
    assert!(user.text(".attention").await.contains(&receiver.url(LONG_PATH)));
    user.open(&endpoint).await;
    receiver.set_behavior(Behavior::status(200));
    user.click("#deliveries form[action$='/resend'] button").await;
    until_newest(&user, succeeded, 3).await;
    user.check("webhook-delivered").await;
    let received = receiver.until(3).await;
    let first = received.first().unwrap();
    assert_eq!(first.json().pointer("/data/id").unwrap(), charge.as_str());
    for again in &received {
        assert_eq!((again.header("webhook-id"), &again.body), (first.header("webhook-id"), &first.body));
    }

    user.click("#deliveries h3 a").await;
    user.arrive_below("/events/evt_").await;
    user.check("event").await;
    user.click("main form[action$='/resend'] button").await;
    receiver.until(4).await;
    receiver.set_behavior(failing());
    user.open(&endpoint).await;
    user.click("form[action$='/test'] button").await;
    until_newest(&user, failed, 1).await;
    user.check("webhook-test-failed").await;
    assert_eq!(receiver.received().len(), 5, "a test has one attempt");

    user.click("form[action$='/rotate'] button").await;
    user.confirm().await;
    assert!(user.text("#secret").await.starts_with("whsec_"));
    user.check("webhook-rotated").await;
    user.open(&endpoint).await;
    user.click("form[action$='/pause'] button").await;
    user.wait_until("return Boolean(document.querySelector('form[action$=\"/activate\"]'))").await;
    user.check("webhook-paused").await;
    user.visit(&format!("{endpoint}/delete"), "webhook-delete").await;
    user.submit().await;
    user.arrive("/webhooks").await;
    user.assert_checked(&CHECKED);
}

#[tokio::test]
async fn failed_webhook_is_sent_again_in_portuguese() {
    failed_webhook_is_sent_again("pt-BR", ["em espera", "entregue", "falhou"]).await;
}

#[tokio::test]
async fn failed_webhook_is_sent_again_in_english() {
    failed_webhook_is_sent_again("en", ["pending", "succeeded", "failed"]).await;
}

//! A merchant sends money, defends a dispute and uses crypto in Chromium.

use reqwest::Method;
use serde_json::json;

use super::browser::User;

/// The pages that the flow checks.
pub const CHECKED: [&str; 7] = [
    "/payouts/confirm/{id}",
    "/payouts/{id}",
    "/infractions/{id}",
    "/crypto/deposits/quotes/{id}",
    "/crypto/deposits/{id}",
    "/crypto/withdrawals/confirm/{id}",
    "/crypto/withdrawals/{id}",
];

async fn merchant_sends_and_defends(language: &'static str) {
    let mut user = User::new(language).await;
    user.sign_up().await;
    let shop = user.approve();
    user.node.cli(&["account", "features", "--account", &user.email, "--enable", "crypto_in,crypto_out"]);
    shop.earn("5000.00").await;

    user.open("/payouts/new").await;
    user.check("payout-new").await;
    user.fill("[name=amount]", "12,50").await;
    user.fill("[name=key]", "joao@bank.example").await;
    user.fill("[name=external_id]", "fornecedor-7").await;
    user.submit().await;
    user.arrive_below("/payouts/confirm/").await;
    user.check("payout-confirm").await;
    user.submit().await;
    user.arrive_below("/payouts/pyt_").await;
    user.wait_until("return document.querySelector('.status').dataset.status === 'completed'").await;
    user.check("payout").await;

    user.open("/payouts/new").await;
    user.fill("[name=amount]", "1.000,01").await;
    user.fill("[name=key]", "fail@sandbox.cais").await;
    user.submit().await;
    user.arrive_below("/payouts/confirm/").await;
    user.check("payout-confirm-code").await;
    user.enter_code().await;
    user.arrive_below("/payouts/pyt_").await;
    user.wait_until("return document.querySelector('.status').dataset.status === 'failed'").await;
    user.check("payout-failed").await;
    user.open("/payouts").await;
    user.check("payouts").await;
    let payouts = shop.all("/payouts").await;
    assert_eq!(payouts.len(), 2, "each order is sent once");

    let charge = shop.earn("80.00").await;
    shop.send(Method::POST, &format!("/sandbox/charges/{charge}/infraction"), &json!({})).await.expect(201);
    user.open("/infractions").await;
    user.check("infractions").await;
    user.click("td a").await;
    user.arrive_below("/infractions/inf_").await;
    user.check("infraction").await;
    user.fill("[name=text]", "Entregue em 2 de janeiro, com assinatura.").await;
    user.submit().await;
    user.wait_until("return !document.querySelector('textarea')").await;
    user.check("infraction-defended").await;

    user.open("/crypto").await;
    user.check("crypto").await;
    user.open("/crypto/deposits/new").await;
    user.check("crypto-deposit-new").await;
    user.fill("[name=amount]", "300,00").await;
    user.submit().await;
    user.arrive_below("/crypto/deposits/quotes/").await;
    user.check("crypto-quote").await;
    user.submit().await;
    let path = user.arrive_below("/crypto/deposits/cdp_").await;
    user.check("crypto-deposit").await;
    let id = path.rsplit('/').next().unwrap_or_default().to_owned();
    let pay = format!("/sandbox/crypto/deposits/{id}/pay");
    shop.send(Method::POST, &pay, &json!({})).await.expect(200);
    user.wait_until("return document.querySelector('.status').dataset.status === 'completed'").await;
    user.check("crypto-deposit-completed").await;

    user.open("/crypto/withdrawals/new").await;
    user.check("crypto-withdrawal-new").await;
    user.fill("[name=amount]", "500,00").await;
    user.run("document.querySelector('[name=currency]').value = 'usdterc20'").await;
    user.fill("[name=address]", "0x52908400098527886E0F7030069857D2E4169EE7").await;
    user.submit().await;
    user.arrive_below("/crypto/withdrawals/confirm/").await;
    user.check("crypto-withdrawal-confirm").await;
    user.enter_code().await;
    user.arrive_below("/crypto/withdrawals/cwd_").await;
    user.check("crypto-withdrawal").await;
    for page in ["/crypto/deposits", "/crypto/withdrawals", "/statement", "/settings"] {
        user.open(page).await;
        user.check(page).await;
    }
    user.assert_checked(&CHECKED);
    user.node.verify();
}

#[tokio::test]
async fn merchant_sends_and_defends_in_portuguese() {
    merchant_sends_and_defends("pt-BR").await;
}

#[tokio::test]
async fn merchant_sends_and_defends_in_english() {
    merchant_sends_and_defends("en").await;
}

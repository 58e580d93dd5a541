//! Crypto: currencies, deposits by a quote, withdrawals by a code.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::crypto::Deposit;
use cais_ports::{CryptoDepositQueries as _, PageRequest, UpstreamDepositStatus};

use super::browser::{Seen, TestBed};
use super::shop::{Shop, check_pages};

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";
const ADDRESS: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
const SCRIPT: &str = "\"><script>alert(1)</script>";

/// Returns the account's deposits, as its page lists them.
async fn deposits(shop: &Shop<'_>) -> Vec<Deposit> {
    let page = PageRequest { limit: 200, starting_after: None };
    shop.bed.store.list_crypto_deposits(shop.base.account.id, page).await.unwrap().rows
}

/// Sends the form of a deposit. Returns the path of the quote.
async fn quoted(shop: &mut Shop<'_>) -> String {
    let seen = shop.fill("/crypto/deposits/new", &[("amount", "200,00"), ("currency", "usdterc20")]).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
    seen.location().to_owned()
}

/// Sends the form of a withdrawal.
async fn submit_withdrawal_form(shop: &mut Shop<'_>, amount: &str) -> Seen {
    let fields = [("amount", amount), ("currency", "usdterc20"), ("address", ADDRESS)];
    shop.fill("/crypto/withdrawals/new", &fields).await
}

#[actix_web::test]
async fn deposit_is_created_once_from_its_quote() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let quote = quoted(&mut shop).await;
    let page = shop.browser.get(&quote).await;
    assert!(page.body.contains("R$ 200,00") && page.body.contains("40 usdterc20"), "{}", page.body);
    let fields = [("description", "Pedido 7"), ("external_id", "pedido-7")];
    let first = shop.browser.post(&quote, &fields).await;
    let again = shop.browser.post(&quote, &fields).await;
    assert_eq!((first.status, first.location()), (303, again.location()), "{}", first.body);
    let stored = deposits(&shop).await;
    assert_eq!(stored.len(), 1);
    assert_eq!(stored.first().map(|deposit| deposit.terms.origin), Some(Origin::Manual));
    let shown = shop.browser.get(first.location()).await;
    for text in [
        "data:image/png",
        "data-copy=\"address\"",
        "<data id=\"coins\" value=\"40\">",
        "Pedido 7",
        "pedido-7",
        "hx-get=",
    ] {
        assert!(shown.body.contains(text), "{text}: {}", shown.body);
    }
    assert!(shop.browser.get(&quote).await.body.contains("já foi usada"));
    let other = shop.browser.post(&quote, &[("description", "Outro")]).await;
    assert_eq!(other.status, 422);
    assert_eq!(deposits(&shop).await.len(), 1);
}

#[actix_web::test]
async fn deposit_page_follows_its_payments() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let quote = quoted(&mut shop).await;
    shop.browser.get(&quote).await;
    let path = shop.browser.post(&quote, &[]).await.location().to_owned();
    let payment = deposits(&shop).await.first().unwrap().state.issued().unwrap().payment.clone();
    shop.base.processor.pay(&payment, UpstreamDepositStatus::Finished, "40");
    bed.clock.advance(Duration::from_secs(2));
    let part = shop.browser.get(&format!("{path}/live")).await;
    assert!(part.body.starts_with("<div id=\"live\">"), "{}", part.body);
    for text in ["concluído", "valor exato", "creditado", "R$ 200,00"] {
        assert!(part.body.contains(text), "{text}: {}", part.body);
    }
    assert!(!part.body.contains("data:image"), "a paid deposit has no QR code");
}

#[actix_web::test]
async fn expired_quote_creates_no_deposit() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let quote = quoted(&mut shop).await;
    shop.browser.get(&quote).await;
    bed.clock.advance(Duration::from_secs(61));
    let seen = shop.browser.post(&quote, &[]).await;
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("Peça outra"), "{}", seen.body);
    assert_eq!(deposits(&shop).await.len(), 0);
}

#[actix_web::test]
async fn withdrawal_is_sent_once_with_a_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_withdrawal_form(&mut shop, "500,00").await.location().to_owned();
    let page = shop.browser.get(&path).await;
    for text in [ADDRESS, "R$ 500,00", "100 usdterc20", "name=\"code\""] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert_eq!(shop.browser.post(&path, &[("code", "999999")]).await.status, 422);
    assert_eq!(shop.base.processor.requests(), 0);
    let code = shop.code().await;
    let first = shop.browser.post(&path, &[("code", &code)]).await;
    let again = shop.browser.post(&path, &[]).await;
    assert_eq!((first.status, first.location()), (303, again.location()), "{}", first.body);
    assert_eq!((shop.base.processor.requests(), bed.store.crypto_withdrawals().len()), (1, 1));
    assert_eq!(bed.store.crypto_withdrawals().first().map(|withdrawal| withdrawal.terms.origin), Some(Origin::Manual));
    assert_eq!(shop.base.available(), 950_000);
    let shown = shop.browser.get(first.location()).await;
    assert!(shown.body.contains(ADDRESS) && shown.body.contains("em processamento"), "{}", shown.body);
    assert!(shop.browser.get("/crypto/withdrawals").await.body.contains("R$ 500,00"));
}

#[actix_web::test]
async fn withdrawal_is_sent_only_at_the_shown_price() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_withdrawal_form(&mut shop, "500").await.location().to_owned();
    assert!(shop.browser.get(&path).await.body.contains("100 usdterc20"));
    bed.clock.advance(Duration::from_secs(61));
    shop.base.processor.state().brl_per_usd = Some(("8", "8"));
    let code = shop.code().await;
    let seen = shop.browser.post(&path, &[("code", &code)]).await;
    assert_eq!((seen.status, bed.store.crypto_withdrawals().len()), (422, 0), "{}", seen.body);
    // The confirmed withdrawal needs no second code. The user only accepts the new price.
    assert!(seen.body.contains("62,5 usdterc20") && !seen.body.contains("name=\"code\""), "{}", seen.body);
    let action = seen.body.split("action=\"").find(|part| part.starts_with("/crypto/withdrawals/confirm/"));
    let action = action.and_then(|part| part.split('"').next()).unwrap().to_owned();
    let sent = shop.browser.post(&action, &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let coins: Vec<_> = bed.store.crypto_withdrawals().iter().map(|one| one.price.coins.to_string()).collect();
    assert_eq!((coins, shop.base.processor.requests()), (vec!["62.5".to_owned()], 1));
    // The form with the expired quote leads to the same withdrawal.
    assert_eq!(shop.browser.post(&path, &[]).await.location(), sent.location());
}

#[actix_web::test]
async fn mistakes_of_crypto_forms_are_named() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    for (amount, currency, address, text) in [
        ("1.234", "btc", ADDRESS, "duas casas decimais"),
        ("500", "usdttrc20", ADDRESS, "moeda da lista"),
        ("500", "btc", ADDRESS, "não é válido para esta moeda"),
        ("10", "usdterc20", ADDRESS, "abaixo do mínimo"),
        ("60.000", "usdterc20", ADDRESS, "duas casas decimais"),
        ("60000", "usdterc20", ADDRESS, "R$ 50.000,00"),
    ] {
        let fields = [("amount", amount), ("currency", currency), ("address", address)];
        let seen = shop.fill("/crypto/withdrawals/new", &fields).await;
        assert_eq!(seen.status, 422, "{fields:?}");
        assert!(seen.body.contains(text), "{fields:?}: {}", seen.body);
    }
    for (amount, currency, text) in
        [("x", "btc", "duas casas decimais"), ("500", "", "moeda da lista"), ("1", "usdterc20", "abaixo do mínimo")]
    {
        let seen = shop.fill("/crypto/deposits/new", &[("amount", amount), ("currency", currency)]).await;
        assert_eq!(seen.status, 422, "{amount} {currency}");
        assert!(seen.body.contains(text), "{amount} {currency}: {}", seen.body);
    }
    let fields = [("amount", SCRIPT), ("currency", SCRIPT), ("address", SCRIPT), ("description", SCRIPT)];
    let seen = shop.fill("/crypto/withdrawals/new", &fields).await;
    assert!(!seen.body.contains("<script>") && seen.body.contains("script&#62;"), "{}", seen.body);
    assert_eq!((deposits(&shop).await.len(), bed.store.crypto_withdrawals().len()), (0, 0));
}

#[actix_web::test]
async fn crypto_records_of_another_account_do_not_exist() {
    let bed = TestBed::new(None);
    let mut ana = Shop::open(&bed, EMAIL).await;
    let open_quote = quoted(&mut ana).await;
    let quote = quoted(&mut ana).await;
    ana.browser.get(&quote).await;
    let deposit = ana.browser.post(&quote, &[]).await.location().to_owned();
    let confirm = submit_withdrawal_form(&mut ana, "500").await.location().to_owned();
    let other = submit_withdrawal_form(&mut ana, "500").await.location().to_owned();
    ana.browser.get(&confirm).await;
    let code = ana.code().await;
    let withdrawal = ana.browser.post(&confirm, &[("code", &code)]).await.location().to_owned();
    let mut bia = Shop::open(&bed, OTHER).await;
    let lives = [format!("{deposit}/live"), format!("{withdrawal}/live")];
    for path in [&open_quote, &quote, &deposit, &confirm, &other, &withdrawal].into_iter().chain(&lives) {
        assert_eq!(bia.browser.get(path).await.status, 404, "{path}");
    }
    bia.browser.get("/crypto").await;
    bia.browser.get("/crypto/deposits/new").await;
    let code = bia.code().await;
    for path in [&open_quote, &other] {
        assert_eq!(bia.browser.post(path, &[("code", &code)]).await.status, 404, "{path}");
    }
    bia.browser.token = String::new();
    for path in ["/crypto/deposits/new", "/crypto/withdrawals/new", &open_quote, &other] {
        assert_eq!(bia.browser.post(path, &[]).await.status, 403, "{path}");
    }
    assert_eq!((deposits(&ana).await.len(), bed.store.crypto_withdrawals().len()), (1, 1));
}

#[actix_web::test]
async fn pages_of_crypto_are_for_merchants_in_both_languages() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let open_quote = quoted(&mut shop).await;
    let quote = quoted(&mut shop).await;
    shop.browser.get(&quote).await;
    let deposit = shop.browser.post(&quote, &[]).await.location().to_owned();
    let confirm = submit_withdrawal_form(&mut shop, "500").await.location().to_owned();
    let waiting = submit_withdrawal_form(&mut shop, "500").await.location().to_owned();
    shop.browser.get(&confirm).await;
    let code = shop.code().await;
    let withdrawal = shop.browser.post(&confirm, &[("code", &code)]).await.location().to_owned();
    let paths = [
        "/crypto",
        "/crypto/deposits",
        "/crypto/deposits/new",
        "/crypto/withdrawals",
        "/crypto/withdrawals/new",
        open_quote.as_str(),
        quote.as_str(),
        deposit.as_str(),
        waiting.as_str(),
        withdrawal.as_str(),
    ];
    check_pages(&mut shop, &paths).await;
    let page = shop.browser.get("/crypto").await;
    assert!(page.body.contains("usdterc20") && page.body.contains("20 usdterc20 (R$ 100.00)"), "{}", page.body);
}

//! Operators decide infractions, crypto payments and withdrawals in review. Each decision needs a one-time code.

use std::time::Duration;

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::crypto::{CryptoAmount, Currency};
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::{
    CryptoDepositQueries as _, PageRequest, UpstreamDepositStatus, UpstreamInfractionStatus, UpstreamWithdrawalStatus,
};
use cais_testkit::builders::an_operator;
use cais_use_cases::accounts::{AccountEmail, fees};
use cais_use_cases::crypto::withdrawals::poll as withdrawals;
use cais_use_cases::infractions::poll;

use super::browser::{Browser, Seen, TestBed};
use super::shop::{Shop, an_operator_browser};

const EMAIL: &str = "ana@shop.example";
const OPERATOR: &str = "ops@cais.example";
const ADDRESS: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
const CRYPTO: &str = "/operator/crypto";

/// Disputes R$ 6.00 of a Pix of R$ 10.00. R$ 2.00 is returned although the dispute is rejected, so an operator must
/// decide. Returns the infraction.
async fn in_review(shop: &Shop<'_>) -> Infraction {
    let (_, pix) = shop.base.paid(1_000).await;
    let id = shop.base.psp.dispute(&pix, 600);
    poll::run_once(&shop.base.ports).await.unwrap();
    shop.base.psp.complete_infraction_return(&pix, 200);
    shop.base.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    poll::run_once(&shop.base.ports).await.unwrap();
    stored(shop.bed)
}

fn stored(bed: &TestBed) -> Infraction {
    bed.store.infractions().pop().unwrap()
}

/// Creates a deposit of 40 USDT on Ethereum, and pays `coins` of `currency`, so that an operator must decide. Returns
/// the deposit's id.
async fn coins_in_review(shop: &mut Shop<'_>, currency: Currency, coins: &str) -> String {
    let fields = [("amount", "200,00"), ("currency", "usdterc20")];
    let quote = shop.fill("/crypto/deposits/new", &fields).await.location().to_owned();
    let path = shop.fill(&quote, &[]).await.location().to_owned();
    let page = PageRequest { limit: 1, starting_after: None };
    let deposit = shop.bed.store.list_crypto_deposits(shop.base.account.id, page).await.unwrap().rows.remove(0);
    let coins = CryptoAmount::parse(currency, coins).unwrap();
    shop.base.processor.change_payment(&deposit.state.issued().unwrap().payment, |payment| {
        (payment.status, payment.received) = (UpstreamDepositStatus::Finished, Some(ArrivedCoins::Supported(coins)));
    });
    shop.bed.clock.advance(Duration::from_secs(2));
    let seen = shop.browser.get(&path).await;
    assert!(seen.body.contains("em conferência"), "{}", seen.body);
    deposit.id.to_string()
}

/// Creates a withdrawal that the processor reports as failed. Returns the withdrawal's id.
async fn failed_withdrawal(shop: &mut Shop<'_>) -> String {
    let fields = [("amount", "500,00"), ("currency", "usdterc20"), ("address", ADDRESS)];
    let confirm = shop.fill("/crypto/withdrawals/new", &fields).await.location().to_owned();
    let code = shop.code().await;
    assert_eq!(shop.fill(&confirm, &[("code", &code)]).await.status, 303);
    shop.base.processor.set_status(UpstreamWithdrawalStatus::Failed);
    shop.bed.clock.advance(Duration::from_mins(30));
    withdrawals::run_once(&shop.base.ports).await.unwrap();
    let withdrawal = shop.bed.store.crypto_withdrawals().pop().unwrap();
    assert!(withdrawal.state.review_since().is_some());
    withdrawal.id.to_string()
}

/// Confirms a decision with a new code, after a wrong one. Returns the confirmation page and the response to the new
/// code.
async fn confirmed(bed: &TestBed, browser: &mut Browser<'_>, submitted: &Seen) -> (Seen, Seen) {
    let path = submitted.location().to_owned();
    assert!(path.starts_with("/confirm/"), "{} {}", submitted.status, submitted.body);
    let shown = browser.get(&path).await;
    assert_eq!(browser.post(&path, &[("code", "000000")]).await.status, 422);
    bed.clock.advance(Duration::from_secs(30));
    let code = bed.code(OPERATOR, 0).await;
    let done = browser.post(&path, &[("code", &code)]).await;
    (shown, done)
}

#[actix_web::test]
async fn infraction_is_decided_with_a_code() {
    let bed = TestBed::new(None);
    let shop = Shop::open(&bed, EMAIL).await;
    let before = in_review(&shop).await;
    let (mut browser, path) = (an_operator_browser(&bed).await, format!("/operator/infractions/{}", before.id));
    let list = browser.get("/operator/infractions").await;
    assert!(list.body.contains(&path) && list.body.contains("foi devolvido mais"), "{}", list.body);
    let page = browser.get(&path).await;
    for text in ["R$ 6,00", "Não reconheço", "name=\"lost_amount\"", &before.account.to_string()] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let version = before.version.to_string();
    let fields = [("version", version.as_str()), ("outcome", "lost"), ("lost_amount", "2,00"), ("note", "Ligação <b>")];
    let available = shop.base.available();
    let submitted = browser.post(&path, &fields).await;
    assert_eq!(stored(&bed), before, "nothing changes before the code");
    let (shown, done) = confirmed(&bed, &mut browser, &submitted).await;
    for text in ["perdida", "R$ 2,00", "Ligação &#60;b&#62;", &format!("href=\"{path}\"")] {
        assert!(shown.body.contains(text), "{text}: {}", shown.body);
    }
    assert_eq!((done.status, done.location()), (303, format!("{path}?changed").as_str()), "{}", done.body);
    assert_eq!(stored(&bed).state.status(), InfractionStatus::Lost);
    assert_eq!(shop.base.available(), available + 400);
    let after = browser.get(&format!("{path}?changed")).await;
    assert!(after.body.contains("role=\"status\"") && !after.body.contains("name=\"note\""), "{}", after.body);
    assert!(!browser.get("/operator/infractions").await.body.contains(&path));
    assert!(browser.get("/operator/audit").await.body.contains("infraction.resolve"));
    let again = browser.post(&path, &fields).await;
    assert!(again.status == 422 && again.body.contains("não espera mais"), "{}", again.body);
}

#[actix_web::test]
async fn mistakes_of_an_infraction_decision_are_named() {
    let bed = TestBed::new(None);
    let shop = Shop::open(&bed, EMAIL).await;
    let before = in_review(&shop).await;
    let (mut browser, path) = (an_operator_browser(&bed).await, format!("/operator/infractions/{}", before.id));
    let (version, older) = (before.version.to_string(), (before.version - 1).to_string());
    for (version, outcome, amount, note, text) in [
        (&version, "", "", "ok", "Escolha"),
        (&version, "won", "1,00", "ok", "só se aplica"),
        (&version, "lost", "0", "ok", "acima de zero"),
        (&version, "lost", "1.234", "ok", "acima de zero"),
        (&version, "won", "", " ", "justificativa"),
        (&older, "won", "", "ok", "mudou depois"),
    ] {
        browser.get(&path).await;
        let fields = [("version", version.as_str()), ("outcome", outcome), ("lost_amount", amount), ("note", note)];
        let seen = browser.post(&path, &fields).await;
        assert_eq!(seen.status, 422, "{outcome} {amount} {note}");
        assert!(seen.between("role=\"alert\">", "<").contains(text), "{text}: {}", seen.body);
    }
    // The amount is compared with the contested amount only when the decision is executed.
    let fields = [("version", version.as_str()), ("outcome", "lost"), ("lost_amount", "6,01"), ("note", "ok")];
    let submitted = browser.post(&path, &fields).await;
    let (_, refused) = confirmed(&bed, &mut browser, &submitted).await;
    assert!(refused.status == 422 && refused.body.contains("Valor contestado: R$ 6,00."), "{}", refused.body);
    assert_eq!(stored(&bed), before);
}

#[actix_web::test]
async fn payment_in_review_is_credited_with_a_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let deposit = coins_in_review(&mut shop, Currency::UsdtBsc, "40").await;
    let mut browser = an_operator_browser(&bed).await;
    let page = browser.get(CRYPTO).await;
    assert!(page.body.contains(&deposit) && page.body.contains("outra moeda"), "{}", page.body);
    let hidden = |name: &str| page.between(&format!("name=\"{name}\" value=\""), "\"");
    let (id, processor, version) = (hidden("id"), hidden("processor"), hidden("version"));
    let payment = [("id", id.as_str()), ("processor", &processor), ("version", &version)];
    for (fields, text) in [
        (vec![("decision", "credit"), ("amount", "-1"), ("note", "ok")], "acima de zero"),
        (vec![("decision", "credit"), ("amount", "200,00"), ("note", "")], "justificativa"),
        (vec![("decision", "steal"), ("note", "ok")], "Escolha"),
    ] {
        let seen = browser.post(CRYPTO, &[&payment[..], &fields].concat()).await;
        assert!(seen.status == 422 && seen.body.contains(text), "{text}: {}", seen.body);
    }
    let at_rate = [&payment[..], &[("decision", "credit_at_rate"), ("note", "Rede trocada")]].concat();
    let submitted = browser.post(CRYPTO, &at_rate).await;
    let (shown, refused) = confirmed(&bed, &mut browser, &submitted).await;
    assert!(shown.body.contains("pela cotação do depósito") && !shown.body.contains("R$"), "{}", shown.body);
    assert!(refused.status == 422 && refused.body.contains("a moeda é outra"), "{}", refused.body);
    let fields = [&payment[..], &[("decision", "credit"), ("amount", "200,00"), ("note", "Rede trocada")]].concat();
    let (submitted, late) = (browser.post(CRYPTO, &fields).await, browser.post(CRYPTO, &fields).await);
    assert_eq!(shop.base.available(), 1_000_000);
    let (shown, done) = confirmed(&bed, &mut browser, &submitted).await;
    assert!(shown.body.contains("R$ 200,00") && shown.body.contains("Rede trocada"), "{}", shown.body);
    assert_eq!(done.location(), "/operator/crypto?changed", "{}", done.body);
    assert_eq!(shop.base.available(), 1_020_000);
    let (_, refused) = confirmed(&bed, &mut browser, &late).await;
    assert!(refused.status == 422 && refused.body.contains("mudou depois"), "{}", refused.body);
    assert_eq!(shop.base.available(), 1_020_000, "credited once");
    assert!(!browser.get(CRYPTO).await.body.contains(&deposit));
    assert!(browser.get("/operator/audit").await.body.contains("crypto_payment.resolve"));
}

/// 100 USDT are more than twice the requested coins, so an operator must decide. At the rate of R$ 5.00, the payment
/// is worth R$ 500.00.
#[actix_web::test]
async fn credit_at_the_rate_shows_its_amounts_before_the_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("1").unwrap(), None, None).unwrap();
    let email = AccountEmail::parse(EMAIL).unwrap();
    fees::set(&shop.base.ports, &an_operator(), &email, Operation::CryptoIn, &rule).await.unwrap();
    coins_in_review(&mut shop, Currency::UsdtErc20, "100").await;
    let mut browser = an_operator_browser(&bed).await;
    let page = browser.get(CRYPTO).await;
    let hidden = |name: &str| page.between(&format!("name=\"{name}\" value=\""), "\"");
    let (id, processor, version) = (hidden("id"), hidden("processor"), hidden("version"));
    let fields = [("id", id.as_str()), ("processor", &processor), ("version", &version)];
    let fields = [&fields[..], &[("decision", "credit_at_rate"), ("note", "Pago a mais")]].concat();
    let submitted = browser.post(CRYPTO, &fields).await;
    let (shown, done) = confirmed(&bed, &mut browser, &submitted).await;
    for text in ["100 usdterc20", "R$ 5 por unidade", "R$ 500,00", "R$ 5,50", "R$ 494,50"] {
        assert!(shown.body.contains(text), "{text}: {}", shown.body);
    }
    assert_eq!(done.location(), "/operator/crypto?changed", "{}", done.body);
    assert_eq!(shop.base.available(), 1_000_000 + 49_450);
    let again = browser.get(submitted.location()).await;
    assert!(again.status != 500, "{}", again.body);
}

#[actix_web::test]
async fn withdrawal_in_review_is_decided_with_a_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let id = failed_withdrawal(&mut shop).await;
    let held = shop.base.available();
    let mut browser = an_operator_browser(&bed).await;
    let page = browser.get(CRYPTO).await;
    assert!(page.body.contains(&id) && page.body.contains(ADDRESS), "{}", page.body);
    let without = browser.post(CRYPTO, &[("decision", "sent"), ("id", &id), ("note", "ok")]).await;
    assert!(without.status == 422 && without.body.contains("transação na rede"), "{}", without.body);
    let fields = [("decision", "failed"), ("id", id.as_str()), ("note", "Confirmado pelo processador")];
    let submitted = browser.post(CRYPTO, &fields).await;
    shop.base.processor.set_status(UpstreamWithdrawalStatus::Finished);
    let (_, refused) = confirmed(&bed, &mut browser, &submitted).await;
    assert!(refused.status == 422 && refused.body.contains("exclui esta decisão"), "{}", refused.body);
    assert_eq!(shop.base.available(), held, "the processor may have sent the coins");
    shop.base.processor.set_status(UpstreamWithdrawalStatus::Failed);
    let (shown, done) = confirmed(&bed, &mut browser, &submitted).await;
    assert!(shown.body.contains(&id) && shown.body.contains("devolver valor e tarifa"), "{}", shown.body);
    assert_eq!(done.location(), "/operator/crypto?changed", "{}", done.body);
    let statuses: Vec<_> = bed.store.crypto_withdrawals().iter().map(|one| one.state.status()).collect();
    assert_eq!((statuses, shop.base.available()), (vec![WithdrawalStatus::Failed], 1_000_000));
}

#[actix_web::test]
async fn merchant_cannot_decide_reviews() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let infraction = in_review(&shop).await;
    let path = format!("/operator/infractions/{}", infraction.id);
    for path in [path.as_str(), "/operator/infractions", CRYPTO] {
        assert_eq!(shop.browser.get(path).await.status, 404, "{path}");
        assert_eq!(bed.browser().get(path).await.location(), "/login", "{path}");
    }
    shop.browser.get("/password").await;
    let version = infraction.version.to_string();
    for path in [path.as_str(), CRYPTO] {
        let fields = [("version", version.as_str()), ("outcome", "won"), ("note", "ok"), ("decision", "failed")];
        assert_eq!(shop.browser.post(path, &fields).await.status, 404, "{path}");
    }
    assert_eq!(stored(&bed), infraction);
    let mut operator = an_operator_browser(&bed).await;
    assert_eq!(operator.get("/operator/infractions/inf_x").await.status, 404);
    operator.get(&path).await;
    operator.token.clear();
    for path in [path.as_str(), CRYPTO] {
        assert_eq!(operator.post(path, &[("outcome", "won")]).await.status, 403, "{path}, without a token");
    }
}

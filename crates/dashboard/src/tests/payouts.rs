//! Payouts: list, detail, form, confirmation.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::payout::PayoutStatus;
use cais_testkit::psp::OrderReply;

use super::browser::TestBed;
use super::shop::{Shop, check_pages};

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";
const KEY: &str = "joao@bank.example";
const SCRIPT: &str = "\"><script>alert(1)</script>";

/// Sends the form of a payout. Returns the path of the confirmation page.
async fn submit_payout_form(shop: &mut Shop<'_>, amount: &str) -> String {
    let seen = shop.fill("/payouts/new", &[("amount", amount), ("key", KEY)]).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
    seen.location().to_owned()
}

#[actix_web::test]
async fn payout_up_to_the_limit_is_sent_once_without_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "R$ 1.000,00").await;
    let page = shop.browser.get(&path).await;
    for text in ["R$ 1.000,00", "R$ 10.000,00", "R$ 9.000,00", KEY] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert!(!page.body.contains("name=\"code\""), "{}", page.body);
    assert_eq!(bed.store.payouts().len(), 0, "nothing before the confirmation");
    let first = shop.browser.post(&path, &[]).await;
    let again = shop.browser.post(&path, &[]).await;
    assert_eq!((first.status, first.location()), (303, again.location()));
    let stored = bed.store.payouts();
    assert_eq!((stored.len(), shop.base.psp.payout_orders().len(), shop.base.available()), (1, 1, 900_000));
    assert_eq!(stored.first().map(|payout| payout.terms.origin), Some(Origin::Manual));
    let shown = shop.browser.get(first.location()).await;
    assert!(shown.body.contains("em processamento") && shown.body.contains("pelo painel"), "{}", shown.body);
    assert!(shop.browser.get(&path).await.body.contains("já foi confirmado"));
}

#[actix_web::test]
async fn payout_above_the_limit_is_sent_with_a_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "1000,01").await;
    assert!(shop.browser.get(&path).await.body.contains("name=\"code\""));
    for code in ["", "999999"] {
        let seen = shop.browser.post(&path, &[("code", code)]).await;
        assert_eq!(seen.status, 422, "{}", seen.body);
        assert!(seen.body.contains("role=\"alert\""), "{}", seen.body);
    }
    assert_eq!(bed.store.payouts().len(), 0);
    let code = shop.code().await;
    let sent = shop.browser.post(&path, &[("code", &code)]).await;
    let again = shop.browser.post(&path, &[("code", &code)]).await;
    assert_eq!((sent.status, sent.location()), (303, again.location()), "{}", sent.body);
    assert_eq!((bed.store.payouts().len(), shop.base.psp.payout_orders().len()), (1, 1));
    let other = submit_payout_form(&mut shop, "1000,01").await;
    shop.browser.get(&other).await;
    assert_eq!(shop.browser.post(&other, &[("code", &code)]).await.status, 422, "a used code");
    assert_eq!(bed.store.payouts().len(), 1);
}

#[actix_web::test]
async fn payout_beyond_the_sum_needs_a_code() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (first, second) = (submit_payout_form(&mut shop, "600").await, submit_payout_form(&mut shop, "600").await);
    assert!(!shop.browser.get(&second).await.body.contains("name=\"code\""));
    assert_eq!(shop.browser.post(&first, &[]).await.status, 303);
    for _ in 0..12 {
        let seen = shop.browser.post(&second, &[]).await;
        assert!(seen.status == 422 && seen.body.contains("É preciso um código do"), "{}", seen.body);
        assert!(seen.body.contains("name=\"code\""), "{}", seen.body);
    }
    let code = shop.code().await;
    assert_eq!(shop.browser.post(&second, &[("code", &code)]).await.status, 303);
    assert_eq!(bed.store.payouts().len(), 2);
}

#[actix_web::test]
async fn five_wrong_codes_end_a_payout() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "2000").await;
    for expected in ["Código incorreto", "Código incorreto", "Código incorreto", "Código incorreto", "Ação encerrada"]
    {
        let seen = shop.browser.post(&path, &[("code", "999999")]).await;
        assert!(seen.status == 422 && seen.body.contains(expected), "{expected}: {}", seen.body);
    }
    let code = shop.code().await;
    assert_eq!(shop.browser.post(&path, &[("code", &code)]).await.status, 404);
    assert_eq!(bed.store.payouts().len(), 0);
}

#[actix_web::test]
async fn payout_is_not_confirmed_on_the_general_page() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "2000").await.replace("/payouts/confirm/", "/confirm/");
    assert_eq!(shop.browser.get(&path).await.status, 404);
    let code = shop.code().await;
    assert_eq!(shop.browser.post(&path, &[("code", &code)]).await.status, 404);
    assert_eq!(bed.store.payouts().len(), 0);
}

#[actix_web::test]
async fn mistakes_of_a_new_payout_are_named() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let long = "x".repeat(141);
    for (fields, text) in [
        (vec![("amount", "1.234"), ("key", KEY)], "duas casas decimais"),
        (vec![("amount", "0,00"), ("key", KEY)], "duas casas decimais"),
        (vec![("amount", "10"), ("key", "11987654321")], "+5511987654321"),
        (vec![("amount", "10"), ("key", KEY), ("description", &long)], "140 caracteres"),
        (vec![("amount", "10"), ("key", KEY), ("external_id", "a\nb")], "120 caracteres"),
        (vec![("amount", "50.000,01"), ("key", KEY)], "R$ 50.000,00"),
        (vec![("amount", "10.000,01"), ("key", KEY)], "não cobre"),
    ] {
        let seen = shop.fill("/payouts/new", &fields).await;
        assert_eq!(seen.status, 422, "{fields:?}");
        assert!(seen.body.contains(text), "{fields:?}: {}", seen.body);
    }
    let seen = shop.fill("/payouts/new", &[("amount", SCRIPT), ("key", SCRIPT), ("description", SCRIPT)]).await;
    assert!(!seen.body.contains("<script>") && seen.body.contains("script&#62;"), "{}", seen.body);
    assert_eq!(bed.store.payouts().len(), 0);
}

#[actix_web::test]
async fn account_without_approval_sends_no_payout() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    browser.get("/payouts/new").await;
    let seen = browser.post("/payouts/new", &[("amount", "10"), ("key", KEY)]).await;
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("ainda não foi aprovado"), "{}", seen.body);
}

#[actix_web::test]
async fn payout_refused_without_acquirer_is_sent_by_a_repeat() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "10").await;
    shop.base.psp.set_all(OrderReply::Down);
    shop.base.second.set_all(OrderReply::Down);
    let seen = shop.browser.post(&path, &[]).await;
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("Nada foi enviado"), "{}", seen.body);
    shop.base.psp.set_all(OrderReply::Accepts);
    assert_eq!(shop.browser.post(&path, &[]).await.status, 303);
    assert_eq!(shop.base.psp.sent(), 1);
}

#[actix_web::test]
async fn payout_page_follows_the_outcome() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let confirm = submit_payout_form(&mut shop, "10").await;
    let path = shop.browser.post(&confirm, &[]).await.location().to_owned();
    let live = format!("{path}/live");
    assert!(shop.browser.get(&path).await.body.contains(&format!("hx-get=\"{live}\"")));
    shop.base.psp.fail();
    bed.clock.advance(Duration::from_secs(2));
    let part = shop.browser.get(&live).await;
    assert!(part.body.starts_with("<div id=\"live\">") && part.body.contains("falhou"), "{}", part.body);
    assert_eq!(bed.store.payouts().first().map(|payout| payout.state.status()), Some(PayoutStatus::Failed));
    assert!(shop.browser.get("/payouts").await.body.contains("falhou"));
}

#[actix_web::test]
async fn payouts_of_another_account_do_not_exist() {
    let bed = TestBed::new(None);
    let mut ana = Shop::open(&bed, EMAIL).await;
    let confirm = submit_payout_form(&mut ana, "10").await;
    let waiting = submit_payout_form(&mut ana, "20").await;
    let path = ana.browser.post(&confirm, &[]).await.location().to_owned();
    let mut bia = Shop::open(&bed, OTHER).await;
    let live = format!("{path}/live");
    let after = path.replace("/payouts/", "/payouts?starting_after=");
    for path in
        [path.as_str(), live.as_str(), after.as_str(), waiting.as_str(), "/payouts/pyt_x", "/payouts?starting_after=x"]
    {
        assert_eq!(bia.browser.get(path).await.status, 404, "{path}");
    }
    bia.browser.get("/payouts").await;
    assert_eq!(bia.browser.post(&waiting, &[]).await.status, 404);
    assert!(!bia.browser.get("/payouts").await.body.contains(KEY));
    assert_eq!(bed.store.payouts().len(), 1);
}

#[actix_web::test]
async fn payout_form_without_token_is_refused() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let path = submit_payout_form(&mut shop, "10").await;
    shop.browser.token = String::new();
    for path in ["/payouts/new", path.as_str()] {
        assert_eq!(shop.browser.post(path, &[("amount", "10"), ("key", KEY)]).await.status, 403, "{path}");
    }
    assert_eq!(bed.store.payouts().len(), 0);
}

#[actix_web::test]
async fn payouts_are_listed_in_pages() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    for _ in 0..51 {
        let confirm = submit_payout_form(&mut shop, "10").await;
        shop.browser.post(&confirm, &[]).await;
    }
    let first = shop.browser.get("/payouts").await;
    assert_eq!(first.body.matches("<tr>").count(), 51, "a header and fifty rows");
    let next = first.between("rel=\"next\" href=\"", "\"");
    let second = shop.browser.get(&next).await;
    assert_eq!(second.body.matches("<tr>").count(), 2);
    assert!(!second.body.contains("rel=\"next\""), "{}", second.body);
}

#[actix_web::test]
async fn pages_of_payouts_are_for_merchants_in_both_languages() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let confirm = submit_payout_form(&mut shop, "10").await;
    let path = shop.browser.post(&confirm, &[]).await.location().to_owned();
    let waiting = submit_payout_form(&mut shop, "2000").await;
    check_pages(&mut shop, &["/payouts", "/payouts/new", &path, &waiting]).await;
}

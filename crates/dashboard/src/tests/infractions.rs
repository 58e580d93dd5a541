//! Infractions: lists, detail, defense.

use std::time::Duration;

use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::text::Text;
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::psp::OrderReply;
use cais_use_cases::infractions::poll;

use super::browser::TestBed;
use super::shop::{Shop, check_pages};

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";
const SCRIPT: &str = "\"><script>alert(1)</script>";

/// Disputes a paid charge of R$ 10.00. Returns the infraction and its id at the acquirer.
async fn disputed(shop: &Shop<'_>) -> (Infraction, String) {
    let (_, pix) = shop.base.paid(1_000).await;
    let upstream = shop.base.psp.dispute(&pix, 1_000);
    assert_eq!(poll::run_once(&shop.base.ports).await.unwrap().done, 1);
    (stored(shop), upstream)
}

fn stored(shop: &Shop<'_>) -> Infraction {
    shop.bed.store.infractions().pop().unwrap()
}

fn path(infraction: &Infraction) -> String {
    format!("/infractions/{}", infraction.id)
}

#[actix_web::test]
async fn infraction_shows_report_block_and_deadline() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let page = shop.browser.get(&path(&infraction)).await;
    for text in ["R$ 10,00", "foi enganado", "Valor bloqueado", "data-until=", "Prova de entrega", "Não reconheço"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let listed = shop.browser.get("/infractions").await;
    assert!(listed.body.contains("data-until=") && listed.body.contains("sem defesa"), "{}", listed.body);
}

#[actix_web::test]
async fn repeated_defense_form_sends_one_defense() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let path = path(&infraction);
    let fields = [("text", "Entregue.\r\nCom assinatura."), ("url", "https://loja.example/provas")];
    for _ in 0..2 {
        let seen = shop.browser.get(&path).await;
        assert_eq!(seen.status, 200);
        let seen = shop.browser.post(&path, &fields).await;
        assert_eq!((seen.status, seen.location()), (303, path.as_str()), "{}", seen.body);
    }
    assert_eq!(shop.base.psp.defense_orders().len(), 1);
    let defense = stored(&shop).defense.unwrap();
    assert_eq!(defense.text.map(Text::into_string).as_deref(), Some("Entregue.\nCom assinatura."));
    assert_eq!(defense.evidence_url.map(Text::into_string).as_deref(), Some("https://loja.example/provas"));
    let page = shop.browser.get(&path).await;
    assert!(page.body.contains("em análise") && page.body.contains("Com assinatura."), "{}", page.body);
    assert!(!page.body.contains("<textarea"), "{}", page.body);
    let other = shop.browser.post(&path, &[("text", "Outra")]).await;
    assert_eq!(other.status, 422);
    assert!(other.body.contains("já tem uma defesa"), "{}", other.body);
}

#[actix_web::test]
async fn mistakes_of_a_defense_are_named_and_escaped() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let path = path(&infraction);
    let long = "é".repeat(2_001);
    for (text, url, error) in [
        ("", "", "de 1 a 2.000"),
        (" \n ", "", "de 1 a 2.000"),
        (&long, "", "de 1 a 2.000"),
        ("Entregue", "http://loja.example", "https://"),
        ("Entregue", "https://ana:senha@loja.example", "usuário nem senha"),
    ] {
        let seen = shop.fill(&path, &[("text", text), ("url", url)]).await;
        assert_eq!(seen.status, 422, "{text} {url}");
        assert!(seen.body.contains("role=\"alert\"") && seen.body.contains(error), "{}", seen.body);
    }
    let seen = shop.fill(&path, &[("text", SCRIPT), ("url", SCRIPT)]).await;
    assert!(!seen.body.contains("<script>") && seen.body.contains("script&#62;"), "{}", seen.body);
    assert_eq!(stored(&shop).defense, None);
    assert_eq!(shop.fill(&path, &[("text", SCRIPT)]).await.status, 303);
    let seen = shop.browser.get(&path).await;
    assert!(!seen.body.contains("<script>") && seen.body.contains("script&#62;"), "{}", seen.body);
}

#[actix_web::test]
async fn longest_defense_fits_into_the_form() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let text = "😀".repeat(2_000);
    let seen = shop.fill(&path(&infraction), &[("text", &text)]).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
}

#[actix_web::test]
async fn defense_refused_without_acquirer_can_be_sent_again() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    shop.base.psp.set_all(OrderReply::Down);
    let seen = shop.fill(&path(&infraction), &[("text", "Entregue")]).await;
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("não foi enviada") && seen.body.contains(">Entregue</textarea>"), "{}", seen.body);
    shop.base.psp.set_all(OrderReply::Accepts);
    assert_eq!(shop.fill(&path(&infraction), &[("text", "Entregue")]).await.status, 303);
}

#[actix_web::test]
async fn late_defense_is_refused() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let deadline = infraction.deadline_at.unwrap();
    let left = u64::try_from(deadline.duration_since(bed.clock.now()).as_secs()).unwrap();
    bed.clock.advance(Duration::from_secs(left + 1));
    // The session has expired too, so the user logs in again. The infraction then has no form.
    let mut browser = bed.browser();
    browser.log_in(EMAIL).await;
    browser.get("/login/code").await;
    let code = shop.code().await;
    browser.post("/login/code", &[("code", &code)]).await;
    shop.browser = browser;
    let path = path(&infraction);
    assert!(!shop.browser.get(&path).await.body.contains("<textarea"));
    let seen = shop.browser.post(&path, &[("text", "Entregue")]).await;
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("terminou"), "{}", seen.body);
}

#[actix_web::test]
async fn decisions_are_shown_with_the_money() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (lost, upstream) = disputed(&shop).await;
    shop.base.psp.accept(&upstream);
    poll::run_once(&shop.base.ports).await.unwrap();
    assert_eq!(stored(&shop).state.status(), InfractionStatus::Lost);
    let page = shop.browser.get(&path(&lost)).await;
    assert!(page.body.contains("Voltou ao pagador: R$ 10,00."), "{}", page.body);
    let (won, upstream) = disputed(&shop).await;
    shop.base.psp.settle(&upstream, UpstreamInfractionStatus::Rejected);
    poll::run_once(&shop.base.ports).await.unwrap();
    let page = shop.browser.get(&path(&won)).await;
    assert!(page.body.contains("foi liberado") && !page.body.contains("<textarea"), "{}", page.body);
    let listed = shop.browser.get("/infractions?status=won").await.body;
    assert!(listed.contains(&won.id.to_string()) && !listed.contains(&lost.id.to_string()), "{listed}");
}

#[actix_web::test]
async fn unresolved_infractions_are_listed_by_deadline() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (late, _) = disputed(&shop).await;
    let (_, pix) = shop.base.paid(1_000).await;
    let upstream = shop.base.psp.dispute(&pix, 1_000);
    let sooner = late.deadline_at.unwrap() - Duration::from_hours(1);
    shop.base.psp.change(&upstream, |row| row.deadline_at = Some(sooner));
    poll::run_once(&shop.base.ports).await.unwrap();
    let soon = stored(&shop);
    let listed = shop.browser.get("/infractions").await.body;
    let place = |infraction: &Infraction| listed.find(&path(infraction)).unwrap();
    assert!(place(&soon) < place(&late), "{listed}");
}

#[actix_web::test]
async fn cut_list_of_unresolved_infractions_shows_a_hint() {
    const CUT: &str = "Escolha uma situação para ver as outras.";
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let mut dispute = async |count: usize| {
        for _ in 0..count {
            let (_, pix) = shop.base.paid(1_000).await;
            shop.base.psp.dispute(&pix, 1_000);
        }
        poll::run_once(&shop.base.ports).await.unwrap();
        let listed = shop.browser.get("/infractions").await.body;
        (listed.matches("data-status=\"open\"").count(), listed.contains(CUT))
    };
    assert_eq!(dispute(50).await, (50, false));
    assert_eq!(dispute(1).await, (50, true));
}

#[actix_web::test]
async fn infractions_of_another_account_do_not_exist() {
    let bed = TestBed::new(None);
    let ana = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&ana).await;
    let mut bia = Shop::open(&bed, OTHER).await;
    let path = path(&infraction);
    let after = format!("/infractions?status=all&starting_after={}", infraction.id);
    for path in [path.as_str(), after.as_str(), "/infractions/inf_x", "/infractions?status=gold"] {
        assert_eq!(bia.browser.get(path).await.status, 404, "{path}");
    }
    bia.browser.get("/infractions").await;
    assert_eq!(bia.browser.post(&path, &[("text", "Entregue")]).await.status, 404);
    assert!(!bia.browser.get("/infractions").await.body.contains(&path));
    bia.browser.token = String::new();
    assert_eq!(bia.browser.post(&path, &[("text", "Entregue")]).await.status, 403);
    assert_eq!(stored(&ana).defense, None);
}

#[actix_web::test]
async fn pages_of_infractions_are_for_merchants_in_both_languages() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (infraction, _) = disputed(&shop).await;
    let path = path(&infraction);
    check_pages(&mut shop, &["/infractions", "/infractions?status=all", "/infractions?status=open", &path]).await;
}

//! Charges and their refunds, from the forms to the store.

use cais_domain::charge::{Charge, ChargeStatus, Origin};
use cais_domain::ids::ChargeId;
use cais_domain::money::Money;
use cais_ports::{Actor, AttemptOutcome, AuditFilter, AuditQueries as _, PageRequest};
use cais_use_cases::accounts::{self, AccountEmail};

use super::browser::{Browser, Seen, TestBed};
use super::shop::Shop;
use super::webhooks;

pub(super) const EMAIL: &str = "ana@shop.example";

/// Returns the browser of a logged-in merchant whose account is approved.
pub(super) async fn merchant<'w>(bed: &'w TestBed, email: &str) -> Browser<'w> {
    let browser = bed.logged_in(email).await;
    let by = Actor { name: "ops".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() };
    let email = AccountEmail::parse(email).unwrap();
    accounts::approve::approve(&bed.dashboard.logins.ports, &by, &email).await.unwrap();
    browser
}

/// Creates a charge by the form. Returns the path of its page.
pub(super) async fn created(browser: &mut Browser<'_>, fields: &[(&str, &str)]) -> String {
    let key = key_of(&browser.get("/charges/new").await);
    let seen = browser.post("/charges/new", &[&[("key", key.as_str())], fields].concat()).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
    seen.location().to_owned()
}

fn key_of(seen: &Seen) -> String {
    seen.between("name=\"key\" value=\"", "\"")
}

/// Returns the stored charge of a page.
pub(super) fn stored(bed: &TestBed, path: &str) -> Charge {
    let id = ChargeId::parse(path.strip_prefix("/charges/").unwrap()).unwrap();
    bed.store.charges().into_iter().find(|charge| charge.id == id).unwrap()
}

/// Sends the form of a refund, and its confirmation if the form was accepted.
async fn refund(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Seen {
    browser.get(path).await;
    let seen = browser.post(&format!("{path}/refunds"), fields).await;
    if seen.status == 303 { browser.post(seen.location(), &[]).await } else { seen }
}

#[actix_web::test]
async fn charge_is_created_shown_and_paid_in_the_sandbox() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let fields = [
        ("amount", "1.234,56"),
        ("description", "<script>alert(1)</script>"),
        ("minutes", "10"),
        ("payer_name", "Zé <b>"),
        ("payer_document", "123.456.789-09"),
        ("external_id", "order-1"),
    ];
    let path = created(&mut browser, &fields).await;
    let charge = stored(&bed, &path);
    let terms = (charge.terms.amount, charge.terms.expires_in_s, charge.terms.origin);
    assert_eq!(terms, (Money::from_centavos(123_456), 600, Origin::Manual));
    let shown = browser.get(&path).await;
    for part in [
        "R$ 1.234,56",
        "aguardando pagamento",
        "data:image/png",
        charge.state.issued().unwrap().copy_paste.as_str(),
        "&#60;script&#62;",
        "Zé &#60;b&#62; · 12345678909",
        "order-1",
        "data-until=",
        "Authorization: Bearer $CAIS_API_KEY",
        "hx-get=\"/pay/",
        "instituição parceira main",
    ] {
        let has = shown.body.to_lowercase().contains(&part.to_lowercase());
        assert!(has, "{part}: {}", shown.body);
    }
    assert!(!shown.body.contains("<script>") && !shown.body.contains("/refunds\""), "{}", shown.body);
    let paid = browser.post(&format!("{path}/pay"), &[]).await;
    assert_eq!((paid.status, paid.location()), (303, path.as_str()));
    assert_eq!(stored(&bed, &path).state.status(), ChargeStatus::Paid);
    let shown = browser.get(&path).await;
    assert!(shown.body.contains("charge.paid") && !shown.body.contains("data-until="), "{}", shown.body);
}

#[actix_web::test]
async fn timeline_explains_a_failed_attempt_in_the_language() {
    let bed = TestBed::new(None);
    let mut shop = Shop::open(&bed, EMAIL).await;
    let (_, endpoint) = webhooks::created(&mut shop.browser).await;
    let (charge, _) = shop.base.paid(1_000).await;
    webhooks::attempted(&bed, endpoint, "", AttemptOutcome::Failed).await;
    for (language, paid, attempt) in [
        ("pt-BR", "<span>Paga</span>", "<span>charge.paid → 500, resposta diferente de 2xx, em 12 ms</span>"),
        ("en", "<span>Paid</span>", "<span>charge.paid → 500, answer other than 2xx, in 12 ms</span>"),
    ] {
        shop.browser.get("/sessions").await;
        shop.browser.post("/language", &[("language", language)]).await;
        let page = shop.browser.get(&format!("/charges/{}", charge.id)).await;
        assert!(page.body.contains(paid) && page.body.contains(attempt), "{}", page.body);
    }
}

#[actix_web::test]
async fn repeated_form_creates_one_charge() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let key = key_of(&browser.get("/charges/new").await);
    let fields = [("key", key.as_str()), ("amount", "10,00"), ("minutes", "60")];
    let first = browser.post("/charges/new", &fields).await;
    let again = browser.post("/charges/new", &fields).await;
    assert_eq!((first.status, first.location()), (303, again.location()));
    assert_eq!(bed.store.charges().len(), 1);
    let other = browser.post("/charges/new", &[("key", key.as_str()), ("amount", "11,00"), ("minutes", "60")]).await;
    assert_eq!(other.status, 422, "the key belongs to another form");
    assert_eq!(bed.store.charges().len(), 1);
}

#[actix_web::test]
async fn mistakes_of_a_new_charge_are_named() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    for (name, value, text) in [
        ("amount", "1,99", "pelo menos R$ 2,00"),
        ("amount", "1.234", "pelo menos R$ 2,00"),
        ("amount", "9999999,00", "limite da sua conta: R$ 50.000,00"),
        ("minutes", "0", "1 a 1440 minutos"),
        ("minutes", "1441", "1 a 1440 minutos"),
        ("payer_document", "123.456.789-00", "CPF ou CNPJ válido"),
        ("external_id", "a\tb", "120 caracteres"),
    ] {
        let key = key_of(&browser.get("/charges/new").await);
        let fields = [(name, value), ("key", key.as_str()), ("amount", "10"), ("minutes", "60")];
        let seen = browser.post("/charges/new", &fields).await;
        assert_eq!(seen.status, 422, "{name} {value}");
        assert!(seen.body.contains(text), "{name} {value}: {}", seen.body);
    }
    assert!(bed.store.charges().is_empty());
    let mut unapproved = bed.logged_in("bia@shop.example").await;
    let key = key_of(&unapproved.get("/charges/new").await);
    let seen = unapproved.post("/charges/new", &[("key", key.as_str()), ("amount", "10")]).await;
    assert!(seen.status == 422 && seen.body.contains("ainda não foi aprovado"), "{}", seen.body);
    browser.get("/charges/new").await;
    assert_eq!(browser.post("/charges/new", &[("amount", "10")]).await.status, 400, "no idempotency key");
}

#[actix_web::test]
async fn refund_is_partial_then_the_rest_and_never_twice() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let path = created(&mut browser, &[("amount", "10,00")]).await;
    browser.get(&path).await;
    browser.post(&format!("{path}/pay"), &[]).await;
    browser.get(&path).await;
    let fields = [("payment", ""), ("amount", "4,00"), ("reason", "frio <i>")];
    let intent = browser.post(&format!("{path}/refunds"), &fields).await;
    let confirmation = intent.location().to_owned();
    let shown = browser.get(&confirmation).await;
    assert!(shown.body.contains("R$ 4,00") && !shown.body.contains("name=\"code\""), "{}", shown.body);
    assert!(bed.psp.refund_orders().is_empty(), "not before the confirmation");
    for _ in 0..2 {
        let seen = browser.post(&confirmation, &[]).await;
        assert_eq!((seen.status, seen.location()), (303, path.as_str()), "{}", seen.body);
    }
    assert_eq!(bed.psp.refund_orders().len(), 1);
    let shown = browser.get(&path).await;
    assert!(shown.body.contains("frio &#60;i&#62;") && shown.body.contains("R$ 6,00"), "{}", shown.body);
    for (amount, text) in [("6,01", "pode ser devolvido: R$ 6,00"), ("0", "valor como"), ("x", "valor como")] {
        let seen = refund(&mut browser, &path, &[("amount", amount)]).await;
        assert_eq!(seen.status, 422, "{amount}");
        assert!(seen.body.contains(text), "{amount}: {}", seen.body);
    }
    assert_eq!(refund(&mut browser, &path, &[("amount", "")]).await.status, 303);
    assert_eq!(bed.psp.refund_orders().len(), 2);
    assert!(!browser.get(&path).await.body.contains("/refunds\""), "no rest, no form");
}

#[actix_web::test]
async fn refunds_above_the_limit_need_a_code_and_are_audited() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let path = created(&mut browser, &[("amount", "2.000,00")]).await;
    browser.get(&path).await;
    browser.post(&format!("{path}/pay"), &[]).await;
    assert_eq!(refund(&mut browser, &path, &[("amount", "600,00")]).await.location(), path);
    browser.get(&path).await;
    let intent = browser.post(&format!("{path}/refunds"), &[("amount", "400,01")]).await;
    let confirmation = intent.location().to_owned();
    assert!(browser.get(&confirmation).await.body.contains("name=\"code\""));
    for (code, text) in [("", "É preciso um código do"), ("000000", "Código incorreto")] {
        let seen = browser.post(&confirmation, &[("code", code)]).await;
        assert!(seen.status == 422 && seen.body.contains(text), "{code}: {}", seen.body);
    }
    assert_eq!(bed.psp.refund_orders().len(), 1, "not without a code");
    let code = bed.code(EMAIL, 0).await;
    assert_eq!(browser.post(&confirmation, &[("code", &code)]).await.location(), path);
    assert_eq!(bed.psp.refund_orders().len(), 2);
    let filter = AuditFilter { operator: Some(EMAIL.to_owned()), ..AuditFilter::default() };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 2, starting_after: None }).await.unwrap().rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.after.clone().unwrap())).collect();
    let id = path.strip_prefix("/charges/").unwrap();
    let after = |amount| format!(r#"{{"amount":{amount},"charge_id":"{id}","end_to_end_id":null}}"#);
    assert_eq!(rows, [("refund.send", after("400.01")), ("refund.send", after("600.00"))]);
}

#[actix_web::test]
async fn refund_confirmation_of_another_account_is_not_found() {
    let bed = TestBed::new(None);
    let mut ana = merchant(&bed, EMAIL).await;
    let path = created(&mut ana, &[("amount", "10,00")]).await;
    ana.get(&path).await;
    ana.post(&format!("{path}/pay"), &[]).await;
    ana.get(&path).await;
    let confirmation = ana.post(&format!("{path}/refunds"), &[]).await.location().to_owned();
    let mut bia = merchant(&bed, "bia@shop.example").await;
    bia.get("/charges/new").await;
    assert_eq!(bia.post(&confirmation, &[]).await.status, 404);
    assert_eq!(bia.get(&confirmation).await.status, 404);
    assert_eq!(bed.psp.refund_orders().len(), 0);
}

#[actix_web::test]
async fn unexpected_payment_is_refunded_by_its_pix() {
    let bed = TestBed::new(None);
    let mut browser = merchant(&bed, EMAIL).await;
    let path = created(&mut browser, &[("amount", "10,00")]).await;
    let charge = stored(&bed, &path);
    let pix = bed.psp.pay(&charge.txid, 900);
    browser.get(&path).await;
    let shown = browser.get(&path).await;
    assert!(shown.body.contains(pix.as_str()) && shown.body.contains("pago a menos"), "{}", shown.body);
    assert!(browser.get("/").await.body.contains("Pagamento inesperado em"));
    let wrong = refund(&mut browser, &path, &[("payment", "E123"), ("amount", "")]).await;
    assert_eq!(wrong.status, 422);
    let seen = refund(&mut browser, &path, &[("payment", pix.as_str()), ("amount", "")]).await;
    assert_eq!(seen.status, 303, "{}", seen.body);
    let orders = bed.psp.refund_orders();
    assert_eq!(orders.iter().map(|order| order.amount.centavos()).collect::<Vec<_>>(), [900]);
    let shown = browser.get(&path).await.body;
    assert!(
        shown.contains("Devolução pedida: R$ 9,00") && !shown.contains(&format!("<option value=\"{pix}")),
        "{shown}"
    );
    assert!(shown.split_once("id=\"refunds\"").unwrap().1.contains(&format!("<code>{pix}</code>")), "{shown}");
    assert!(!browser.get("/").await.body.contains("Pagamento inesperado em"), "refunded in full");
    assert_eq!(stored(&bed, &path).state.status(), ChargeStatus::Pending);
}

#[actix_web::test]
async fn charge_of_another_account_does_not_exist() {
    let bed = TestBed::new(None);
    let mut ana = merchant(&bed, EMAIL).await;
    let path = created(&mut ana, &[("amount", "10,00")]).await;
    let mut bia = merchant(&bed, "bia@shop.example").await;
    bia.get("/charges/new").await;
    for path in [path.as_str(), "/charges/chg_01h455vb4pex5vsknk084sn02q", "/charges/x"] {
        assert_eq!(bia.get(path).await.status, 404, "{path}");
        bia.get("/charges/new").await;
        for action in ["refunds", "pay"] {
            let seen = bia.post(&format!("{path}/{action}"), &[("key", "12345678")]).await;
            assert_eq!(seen.status, 404, "{path}/{action}");
            bia.get("/charges/new").await;
        }
    }
    assert_eq!(stored(&bed, &path).state.status(), ChargeStatus::Pending);
}

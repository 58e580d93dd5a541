//! The pages of operators. Every change of an account needs a one-time code, and the tests check the stored account.

use std::time::Duration;

use cais_domain::merchant::account::{Account, AccountStatus, Feature, Kyc};
use cais_ports::{
    AccountQueries as _, Actor, AuditFilter, AuditQueries as _, Callback, CallbackQueries as _, CallbackState,
    PageRequest, Store as _, Write,
};
use cais_testkit::builders::{a_callback, start, steps};
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::logins::invite;

use super::browser::{Browser, PASSWORD, Seen, TestBed};

const EMAIL: &str = "ana@shop.example";
pub(super) const OPERATOR: &str = "ops@cais.example";

/// Returns a browser whose user is an operator and is logged in.
pub(super) async fn operator(bed: &TestBed) -> Browser<'_> {
    let by = Actor { name: "ana".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() };
    let email = AccountEmail::parse(OPERATOR).unwrap();
    let link = invite::create_operator(&bed.dashboard.logins.ports, &by, email).await.unwrap().expose();
    let mut browser = bed.browser();
    let path = format!("/welcome/{link}");
    browser.get(&path).await;
    browser.post(&path, &[("password", PASSWORD)]).await;
    browser.log_in(OPERATOR).await;
    browser.get("/login/enrol").await;
    let code = bed.code(OPERATOR, 0).await;
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 200);
    bed.clock.advance(Duration::from_secs(30));
    browser
}

pub(super) async fn account(bed: &TestBed) -> Account {
    bed.store.find_account_by_email(EMAIL).await.unwrap().unwrap()
}

/// Sends a form of the account's page, with the version that the page shows.
pub(super) async fn sent(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Seen {
    let version = browser.get(path).await.between("name=\"version\" value=\"", "\"");
    browser.post(path, &[fields, &[("version", &version)]].concat()).await
}

/// Sends a form of the account's page and confirms the change. Returns the stored account.
async fn changed(bed: &TestBed, browser: &mut Browser<'_>, fields: &[(&str, &str)]) -> Account {
    let before = account(bed).await;
    let path = format!("/operator/accounts/{}", before.id);
    let confirmation = sent(browser, &path, fields).await.location().to_owned();
    assert!(confirmation.starts_with("/confirm/"), "{fields:?}");
    let shown = browser.get(&confirmation).await;
    assert!(shown.body.contains(EMAIL) && shown.body.contains(&format!("href=\"{path}\"")), "{}", shown.body);
    assert_eq!(account(bed).await, before, "the account changes only after the code");
    let code = bed.code(OPERATOR, 0).await;
    let done = browser.post(&confirmation, &[("code", &code)]).await;
    assert_eq!((done.status, done.location()), (303, format!("{path}?changed").as_str()), "{}", done.body);
    bed.clock.advance(Duration::from_secs(30));
    account(bed).await
}

async fn refused(bed: &TestBed, browser: &mut Browser<'_>, fields: &[(&str, &str)]) -> Seen {
    let path = format!("/operator/accounts/{}", account(bed).await.id);
    let seen = sent(browser, &path, fields).await;
    assert_eq!(seen.status, 422, "{fields:?}");
    seen
}

#[actix_web::test]
async fn operator_changes_every_part_of_an_account() {
    let bed = TestBed::new(None);
    bed.browser().sign_up(EMAIL, "<b>Loja").await;
    let mut browser = operator(&bed).await;
    let queue = browser.get("/operator/accounts?kyc=pending").await;
    assert!(queue.body.contains(EMAIL) && queue.body.contains("&#60;b&#62;Loja"), "{}", queue.body);
    assert_eq!(changed(&bed, &mut browser, &[("change", "approve")]).await.kyc, Kyc::Approved);
    assert!(!browser.get("/operator/accounts?kyc=pending").await.body.contains(EMAIL));
    assert!(browser.get(&format!("/operator/accounts?search={EMAIL}")).await.body.contains(EMAIL));
    let features = [("change", "features"), ("feature", "pix_in"), ("feature", "crypto_in")];
    assert_eq!(changed(&bed, &mut browser, &features).await.features.to_string(), "pix_in,crypto_in");
    let fees =
        [("change", "fees"), ("operation", "pix_in"), ("fixed", "0,50"), ("percentage", "0,99"), ("max", "1,20")];
    let after = changed(&bed, &mut browser, &fees).await;
    assert_eq!(after.fees.get(cais_domain::fee::Operation::PixIn).max().unwrap().to_string(), "1.20");
    let page = browser.get(&format!("/operator/accounts/{}", after.id)).await;
    assert!(page.body.contains("<strong>R$ 1,20</strong>"), "the fee of R$ 100.00: {}", page.body);
    let limits = [("change", "limits"), ("charge", "20.000,00"), ("payout", "1000.50")];
    let after = changed(&bed, &mut browser, &limits).await;
    assert_eq!(
        (after.limits.charge.to_string(), after.limits.payout.to_string()),
        ("20000.00".into(), "1000.50".into())
    );
    let delay = [("change", "release_delay"), ("seconds", "86400")];
    assert_eq!(changed(&bed, &mut browser, &delay).await.release_delay_s, 86_400);
    assert_eq!(changed(&bed, &mut browser, &[("change", "suspend")]).await.status, AccountStatus::Suspended);
    let after = changed(&bed, &mut browser, &[("change", "resume")]).await;
    assert_eq!(after.status, AccountStatus::Active);
    let filter = AuditFilter { operator: Some(OPERATOR.to_owned()), account: Some(after.id), action: None };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 9, starting_after: None }).await.unwrap().rows;
    assert_eq!(rows.len(), 7);
    assert!(rows.iter().all(|row| row.operator.source == "dashboard" && row.operator.host == "192.0.2.9"));
    let log = browser.get(&format!("/operator/audit?account={EMAIL}")).await;
    for text in ["Conta suspensa <code>account.suspend</code>", "account.fees", "192.0.2.9", OPERATOR, "account.create"]
    {
        assert!(log.body.contains(text), "{text}: {}", log.body);
    }
    assert!(!browser.get("/operator/audit?account=x@y.zz").await.body.contains("account.suspend"));
}

#[actix_web::test]
async fn rejected_registration_can_be_approved_later() {
    let bed = TestBed::new(None);
    let mut merchant = bed.logged_in(EMAIL).await;
    let mut browser = operator(&bed).await;
    let path = format!("/operator/accounts/{}", account(&bed).await.id);
    assert_eq!(changed(&bed, &mut browser, &[("change", "reject")]).await.kyc, Kyc::Rejected);
    let page = browser.get(&path).await;
    assert!(page.body.contains("<dd id=\"kyc\">recusado</dd>"), "{}", page.body);
    assert!(page.body.contains("id=\"approve\"") && !page.body.contains("id=\"reject\""), "{}", page.body);
    assert!(merchant.get("/").await.body.contains("Seu cadastro foi recusado"));
    let approved = changed(&bed, &mut browser, &[("change", "approve")]).await;
    assert_eq!((approved.kyc, approved.features.to_string().as_str()), (Kyc::Approved, "pix_in,pix_out"));
    let rejected = changed(&bed, &mut browser, &[("change", "reject")]).await;
    assert!(rejected.kyc == Kyc::Rejected && rejected.permit(Feature::PixIn).is_err());
    assert!(browser.get("/operator/audit").await.body.contains("account.reject"));
}

#[actix_web::test]
async fn mistakes_of_a_change_are_named() {
    let bed = TestBed::new(None);
    bed.browser().sign_up(EMAIL, "Loja").await;
    let mut browser = operator(&bed).await;
    let before = account(&bed).await;
    for (fields, text) in [
        (vec![("change", "fees"), ("operation", "pix_in"), ("fixed", "-1"), ("percentage", "0")], "0,50"),
        (vec![("change", "fees"), ("operation", "pix_in"), ("fixed", "1"), ("percentage", "101")], "0,99"),
        (
            vec![
                ("change", "fees"),
                ("operation", "pix_in"),
                ("fixed", "1"),
                ("percentage", "1"),
                ("min", "2"),
                ("max", "1"),
            ],
            "não pode passar",
        ),
        (vec![("change", "fees"), ("operation", "gold"), ("fixed", "1"), ("percentage", "1")], "conhecida"),
        (vec![("change", "limits"), ("charge", "0"), ("payout", "1")], "acima de zero"),
        (vec![("change", "features"), ("feature", "gold")], "conhecida"),
        (vec![("change", "release_delay"), ("seconds", "7776001")], "7776000"),
        (vec![("change", "delete")], "conhecida"),
    ] {
        let seen = refused(&bed, &mut browser, &fields).await;
        assert!(seen.between("role=\"alert\">", "<").contains(text), "{fields:?}: {}", seen.body);
    }
    assert_eq!(account(&bed).await, before);
}

#[actix_web::test]
async fn merchant_has_no_operator_pages() {
    let bed = TestBed::new(None);
    let mut merchant = bed.logged_in(EMAIL).await;
    let id = account(&bed).await.id;
    let own = format!("/operator/accounts/{id}");
    for path in ["/operator/accounts", &own, "/operator/audit", "/operator/callbacks", "/operator/acquirers"] {
        assert_eq!(merchant.get(path).await.status, 404, "{path}");
        assert_eq!(bed.browser().get(path).await.location(), "/login", "{path}");
    }
    merchant.get("/password").await;
    assert_eq!(merchant.post(&own, &[("change", "approve")]).await.status, 404);
    let retry = format!("/operator/callbacks/{}/retry", a_callback().id);
    assert_eq!(merchant.post(&retry, &[]).await.status, 404);
    assert_eq!(account(&bed).await.kyc, Kyc::Pending);
    let mut operator = operator(&bed).await;
    assert_eq!(operator.get("/operator/accounts/acc_x").await.status, 404);
    assert_eq!(sent(&mut operator, &own, &[("change", "approve")]).await.status, 303);
    operator.token.clear();
    assert_eq!(operator.post(&own, &[("change", "approve")]).await.status, 403, "without a token");
}

#[actix_web::test]
async fn retried_callback_waits_for_processing() {
    let bed = TestBed::new(None);
    let callback = Callback { state: CallbackState::Unmatched, due_at: None, ..a_callback() };
    bed.store.commit(steps::write(Write::insert(callback.clone()), start())).await.unwrap();
    let mut browser = operator(&bed).await;
    assert!(browser.get("/operator/callbacks").await.body.contains(&callback.id.to_string()));
    assert!(browser.get("/").await.body.contains("<strong id=\"waiting-callbacks\">1</strong>"));
    let path = format!("/operator/callbacks/{}/retry", callback.id);
    assert_eq!(browser.post(&path, &[]).await.location(), "/operator/callbacks?retried=1");
    assert!(browser.get("/operator/callbacks?retried=1").await.body.contains("será processado de novo"));
    let stored = bed.store.find_callback(callback.id).await.unwrap().unwrap();
    assert_eq!(stored.state, CallbackState::Waiting);
    assert!(browser.get("/operator/audit").await.body.contains("callback.retry"));
}

#[actix_web::test]
async fn acquirers_page_shows_open_breakers() {
    let bed = TestBed::new(None);
    let mut browser = operator(&bed).await;
    for (is_resting, word) in [(false, "permitidas"), (true, "recusadas"), (false, "permitidas")] {
        bed.psp.set_breaker_open(is_resting);
        let seen = browser.get("/operator/acquirers").await;
        assert!(seen.between("<td>main</td>", "</tr>").contains(word), "{word}: {}", seen.body);
        assert!(seen.between("<td>second</td>", "</tr>").contains("permitidas"), "{}", seen.body);
    }
}

#[actix_web::test]
async fn operator_pages_exist_in_both_languages() {
    let bed = TestBed::new(None);
    let mut browser = operator(&bed).await;
    for (language, words) in [
        (
            "pt-BR",
            [
                "Contas",
                "Auditoria",
                "Avisos sem correspondência",
                "Adquirentes",
                "Conferência do livro-razão",
                "Conciliação",
                "Infrações a decidir",
                "Cripto a decidir",
            ],
        ),
        (
            "en",
            [
                "Accounts",
                "Audit log",
                "Unmatched callbacks",
                "Acquirers",
                "Ledger check",
                "Reconciliation",
                "Infractions in review",
                "Crypto in review",
            ],
        ),
    ] {
        browser.get("/").await;
        browser.post("/language", &[("language", language)]).await;
        let paths = [
            "/operator/accounts",
            "/operator/audit",
            "/operator/callbacks",
            "/operator/acquirers",
            "/operator/ledger",
            "/operator/reconciliation",
            "/operator/infractions",
            "/operator/crypto",
        ];
        for (path, word) in paths.into_iter().zip(words) {
            let seen = browser.get(path).await;
            assert_eq!((seen.status, seen.between("<h1>", "<").as_str()), (200, word), "{path}");
        }
    }
}

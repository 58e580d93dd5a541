//! An approved merchant with money, and the checks that every page of a merchant passes.

use cais_domain::merchant::account::Features;
use cais_ports::Actor;
use cais_testkit::builders::an_operator;
use cais_use_cases::accounts::{AccountEmail, approve, features};
use cais_use_cases::logins::invite;

use super::browser::{Browser, PASSWORD, TestBed};

/// A merchant who is logged in.
pub(super) struct Shop<'w> {
    pub(super) bed: &'w TestBed,
    pub(super) email: &'static str,
    pub(super) browser: Browser<'w>,
    /// The testkit's test bed. Its account is the merchant's account.
    pub(super) base: cais_testkit::TestBed,
}

impl<'w> Shop<'w> {
    /// Returns an approved merchant with R$ 10,000.00 and all features.
    pub(super) async fn open(bed: &'w TestBed, email: &'static str) -> Self {
        let browser = bed.logged_in(email).await;
        let ports = &bed.dashboard.logins.ports;
        let parsed = AccountEmail::parse(email).unwrap();
        approve::approve(ports, &an_operator(), &parsed).await.unwrap();
        let all = Features::parse("crypto_in,crypto_out").unwrap();
        let account = features::set(ports, &an_operator(), &parsed, all, Features::default()).await.unwrap();
        let base = cais_testkit::TestBed { account, ..bed.base.clone() };
        base.adjust_available(1_000_000).await;
        Self { bed, email, browser, base }
    }

    /// Opens a page and sends its form.
    pub(super) async fn fill(&mut self, path: &str, fields: &[(&str, &str)]) -> super::browser::Seen {
        assert_eq!(self.browser.get(path).await.status, 200, "{path}");
        self.browser.post(path, fields).await
    }

    /// Returns the present code of the merchant's authenticator.
    pub(super) async fn code(&self) -> String {
        self.bed.code(self.email, 0).await
    }
}

/// Returns the browser of an operator who is logged in.
pub(super) async fn an_operator_browser(bed: &TestBed) -> Browser<'_> {
    let by = Actor { name: "ana".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() };
    let email = AccountEmail::parse("ops@cais.example").unwrap();
    let link = invite::create_operator(&bed.dashboard.logins.ports, &by, email).await.unwrap().expose();
    let path = format!("/welcome/{link}");
    let mut browser = bed.browser();
    browser.get(&path).await;
    browser.post(&path, &[("password", PASSWORD)]).await;
    browser.log_in("ops@cais.example").await;
    browser.get("/login/enrol").await;
    let code = bed.code("ops@cais.example", 0).await;
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 200);
    browser
}

/// Asserts that pages are shown in both languages, without inline scripts and styles, and only to the merchant.
pub(super) async fn check_pages(shop: &mut Shop<'_>, paths: &[&str]) {
    let bed = shop.bed;
    let (mut operator, mut stranger) = (an_operator_browser(bed).await, bed.browser());
    for language in ["pt-BR", "en"] {
        shop.browser.get("/sessions").await;
        shop.browser.post("/language", &[("language", language)]).await;
        for path in paths {
            let seen = shop.browser.get(path).await;
            assert_eq!(seen.status, 200, "{path}: {}", seen.body);
            assert!(seen.body.contains(&format!("<html lang=\"{language}\"")), "{path}");
            assert!(!seen.body.contains("<script>") && !seen.body.contains("style="), "{path}");
        }
    }
    for path in paths {
        assert_eq!(operator.get(path).await.status, 404, "{path}");
        let seen = stranger.get(path).await;
        assert_eq!((seen.status, seen.location()), (303, "/login"), "{path}");
    }
}

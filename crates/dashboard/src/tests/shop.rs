//! An approved merchant with money, and the checks that every page of a merchant passes.

use cais_domain::merchant::account::Features;
use cais_ports::Operator;
use cais_testkit::builders::an_operator;
use cais_use_cases::accounts::{AccountEmail, approve, features};
use cais_use_cases::logins::invite;

use super::browser::{Browser, PASSWORD, World};

/// A merchant who is logged in.
pub(super) struct Shop<'w> {
    pub(super) world: &'w World,
    pub(super) email: &'static str,
    pub(super) browser: Browser<'w>,
    /// The testkit's world. Its account is the merchant's account.
    pub(super) base: cais_testkit::World,
}

impl<'w> Shop<'w> {
    /// Returns an approved merchant with R$ 10,000.00 and all features.
    pub(super) async fn open(world: &'w World, email: &'static str) -> Self {
        let browser = world.logged_in(email).await;
        let ports = &world.dashboard.logins.ports;
        let parsed = AccountEmail::parse(email).unwrap();
        approve::approve(ports, &an_operator(), &parsed).await.unwrap();
        let all = Features::parse("crypto_in,crypto_out").unwrap();
        let account = features::set(ports, &an_operator(), &parsed, all, Features::default()).await.unwrap();
        let base = cais_testkit::World { account, ..world.base.clone() };
        base.give(1_000_000).await;
        Self { world, email, browser, base }
    }

    /// Opens a page and sends its form.
    pub(super) async fn fill(&mut self, path: &str, fields: &[(&str, &str)]) -> super::browser::Seen {
        assert_eq!(self.browser.get(path).await.status, 200, "{path}");
        self.browser.post(path, fields).await
    }

    /// Returns the present code of the merchant's authenticator.
    pub(super) async fn code(&self) -> String {
        self.world.code(self.email, 0).await
    }
}

/// Returns the browser of an operator who is logged in.
pub(super) async fn an_operator_browser(world: &World) -> Browser<'_> {
    let by = Operator { name: "ana".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() };
    let email = AccountEmail::parse("ops@cais.example").unwrap();
    let link = invite::create_operator(&world.dashboard.logins.ports, &by, email).await.unwrap().expose();
    let path = format!("/welcome/{link}");
    let mut browser = world.browser();
    browser.get(&path).await;
    browser.post(&path, &[("password", PASSWORD)]).await;
    browser.log_in("ops@cais.example").await;
    browser.get("/login/enrol").await;
    let code = world.code("ops@cais.example", 0).await;
    assert_eq!(browser.post("/login/enrol", &[("code", &code)]).await.status, 200);
    browser
}

/// Asserts that pages are shown in both languages, without inline scripts and styles, and only to the merchant.
pub(super) async fn check_pages(shop: &mut Shop<'_>, paths: &[&str]) {
    let world = shop.world;
    let (mut operator, mut stranger) = (an_operator_browser(world).await, world.browser());
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

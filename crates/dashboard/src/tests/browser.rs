//! A browser with cookies, and the service behind it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Service as _;
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, SET_COOKIE};
use actix_web::test::{TestRequest, init_service, read_body, try_call_service};
use actix_web::{App, HttpMessage as _};
use cais_domain::login::code::step_at;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{Clock as _, LoginQueries as _, OneTimeCodes as _, Totp, UrlRefusal, User};
use cais_testkit::builders::an_account;
use cais_testkit::{FakePsp, ManualClock, MemoryStore, PlainCodes, PlainPasswords};
use cais_use_cases::SyncGate;
use cais_use_cases::crypto::currency_cache::RecentCurrencies;
use cais_use_cases::daily_totals::DailyTotals;
use cais_use_cases::export_places::ExportPlaces;
use cais_use_cases::keys::KeyRing;
use cais_use_cases::logins::Logins;
use cais_use_cases::request_log::RequestLog;
use cookie::Cookie;
use url::form_urlencoded;

use crate::{Checks, Dashboard, Downloads, Site, configure};

pub(super) const PASSWORD: &str = "correct horse battery";
/// The origin of a browser's forms if no public URL is configured.
pub(super) const ORIGIN: &str = "http://localhost:8080";

/// The service with its clock, store and acquirer.
pub(super) struct TestBed {
    pub(super) dashboard: Arc<Dashboard>,
    /// The testkit's test bed, with the ports, both acquirers and the crypto processor.
    pub(super) base: cais_testkit::TestBed,
    pub(super) store: Arc<MemoryStore>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) psp: FakePsp,
    /// The accounts with an unfinished CSV file.
    pub(super) exports: ExportPlaces,
}

impl TestBed {
    pub(super) fn new(public_url: Option<&str>) -> Self {
        let mut base = cais_testkit::TestBed::empty(an_account()).with_crypto("0");
        base.ports.webhooks = Arc::new(receivers());
        let cais_testkit::TestBed { ports, store, clock, psp, .. } = base.clone();
        let payer = psp.clone();
        let exports = ExportPlaces::default();
        let dashboard = Arc::new(Dashboard {
            keys: KeyRing::new(ports.clone()),
            requests: RequestLog::default(),
            totals: DailyTotals::default(),
            logins: Logins::new(ports, Arc::new(PlainPasswords::default()), Arc::new(PlainCodes)),
            syncs: SyncGate::new(),
            currencies: RecentCurrencies::default(),
            site: Site::new(public_url, false).unwrap(),
            sandbox_pay: Some(Arc::new(move |txid| {
                let charge = payer.charges().into_iter().find(|charge| charge.txid == *txid).unwrap();
                payer.pay(txid, charge.amount.centavos());
                Ok(())
            })),
            downloads: Downloads::new(exports.clone()),
            checks: Checks::default(),
        });
        Self { dashboard, base, store, clock, psp, exports }
    }

    pub(super) fn browser(&self) -> Browser<'_> {
        let origin = self.dashboard.site.origin.clone().unwrap_or_else(|| ORIGIN.to_owned());
        Browser { bed: self, cookies: BTreeMap::new(), origin: Some(origin), token: String::new() }
    }

    /// Returns a browser whose user has signed up and is logged in.
    pub(super) async fn logged_in(&self, email: &str) -> Browser<'_> {
        let mut browser = self.browser();
        browser.sign_up(email, "Shop").await;
        browser.log_in(email).await;
        browser.get("/login/enrol").await;
        let code = self.code(email, 0).await;
        let shown = browser.post("/login/enrol", &[("code", &code)]).await;
        assert_eq!(shown.status, 200, "{}", shown.body);
        self.clock.advance(Duration::from_secs(30));
        browser
    }

    pub(super) async fn user(&self, email: &str) -> User {
        self.store.find_user_by_email(email).await.unwrap().unwrap()
    }

    /// Returns the code that the user's authenticator shows `ahead` time steps from now.
    pub(super) async fn code(&self, email: &str, ahead: i64) -> String {
        let user = self.user(email).await;
        let sealed = match &user.totp {
            Totp::Missing => panic!("the user has no authenticator"),
            Totp::Enrolling { secret } | Totp::Enrolled { secret, .. } => secret,
        };
        let secret = self.dashboard.logins.ports.secret_cipher.decrypt(&user.id.to_string(), sealed).unwrap();
        format!("{:06}", PlainCodes.code(&secret, step_at(self.clock.now()) + ahead).0)
    }
}

/// Returns a sender that sends nothing. Permitted are https URLs, except those of `127.*` addresses.
fn receivers() -> MockWebhookSender {
    fn permits(url: &WebhookUrl) -> Result<(), UrlRefusal> {
        match url.as_str() {
            url if !url.starts_with("https://") => Err(UrlRefusal::Scheme),
            url if url.contains("//127.") => Err(UrlRefusal::NotPublic),
            _ => Ok(()),
        }
    }
    let mut sender = MockWebhookSender::new();
    sender.expect_permits().returning(permits);
    sender.expect_vet().returning(permits);
    sender
}

/// A response.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(super) fn location(&self) -> &str {
        self.header("location").unwrap_or_default()
    }

    /// Returns the text of the body between `before` and the next `after`.
    pub(super) fn between(&self, before: &str, after: &str) -> String {
        let rest = self.body.split_once(before).unwrap_or_else(|| panic!("no `{before}` in {}", self.body)).1;
        rest.split_once(after).unwrap().0.to_owned()
    }
}

/// A browser: its cookies, and the token of its last form.
pub(super) struct Browser<'w> {
    bed: &'w TestBed,
    pub(super) cookies: BTreeMap<String, String>,
    /// The header `Origin` of its forms; `None` sends forms without the header.
    pub(super) origin: Option<String>,
    /// The token of the last page with a form.
    pub(super) token: String,
}

impl Browser<'_> {
    pub(super) async fn get(&mut self, path: &str) -> Seen {
        self.send(TestRequest::get().uri(path)).await
    }

    /// Sends a form with the token of the last page.
    pub(super) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let mut request = TestRequest::default().method(Method::POST).uri(path);
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("token", &self.token).extend_pairs(fields);
        request = request.insert_header(("content-type", "application/x-www-form-urlencoded"));
        if let Some(origin) = &self.origin {
            request = request.insert_header(("origin", origin.as_str()));
        }
        self.send(request.set_payload(body.finish())).await
    }

    pub(super) async fn send(&mut self, request: TestRequest) -> Seen {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.insert_header(("cookie", cookies.join("; "))).insert_header(("host", "localhost:8080"));
        let request = request.insert_header(("user-agent", "Test/1 <b>")).to_request();
        request.extensions_mut().insert::<IpAddr>("192.0.2.9".parse().unwrap());
        let dashboard = Arc::clone(&self.bed.dashboard);
        let service = init_service(App::new().configure(|config| configure(&dashboard, config))).await;
        std::future::poll_fn(|context| service.poll_ready(context)).await.unwrap();
        let response = try_call_service(&service, request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for line in headers.get_all(SET_COOKIE) {
            let cookie = Cookie::parse(line.to_str().unwrap().to_owned()).unwrap();
            if cookie.value().is_empty() {
                self.cookies.remove(cookie.name());
            } else {
                self.cookies.insert(cookie.name().to_owned(), cookie.value().to_owned());
            }
        }
        let body = String::from_utf8(read_body(response).await.to_vec()).unwrap();
        let seen = Seen { status, headers, body };
        if seen.body.contains("name=\"token\"") {
            self.token = seen.between("name=\"token\" value=\"", "\"");
        }
        seen
    }

    pub(super) async fn sign_up(&mut self, email: &str, name: &str) -> Seen {
        self.get("/signup").await;
        let fields = [("email", email), ("name", name), ("document", "11.222.333/0001-81"), ("password", PASSWORD)];
        let seen = self.post("/signup", &fields).await;
        assert_eq!((seen.status, seen.location()), (303, "/login?signed-up"), "{}", seen.body);
        seen
    }

    /// Sends e-mail and password.
    pub(super) async fn log_in(&mut self, email: &str) -> Seen {
        self.get("/login").await;
        self.post("/login", &[("email", email), ("password", PASSWORD)]).await
    }

    pub(super) fn session(&self) -> Option<&String> {
        self.cookies.get("cais-session").or_else(|| self.cookies.get("__Host-cais-session"))
    }
}

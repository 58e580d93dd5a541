//! The context of a page: the session and the language of the browser's request, and the token of its forms.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::{SET_COOKIE, USER_AGENT};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, HttpResponse};
use askama::Template;
use cais_domain::hex;
use cais_domain::ids::AccountId;
use cais_domain::merchant::account::Account;
use cais_ports::{Role, SessionStage};
use cais_use_cases::Ports;
use cais_use_cases::logins::log_in::NewSession;
use cais_use_cases::logins::{Browser, Visitor, sessions};

use crate::cookies::{self, Purpose};
use crate::failure::Failure;
use crate::layout::{self, Layout};
use crate::state::Dashboard;
use crate::texts::Language;

/// The purpose of the keyed hash that is the token of forms.
const FORM_PURPOSE: &str = "dashboard-form";
/// The header that the script library htmx adds to its requests.
const POLL_HEADER: &str = "hx-request";
/// The number of random bytes in the form cookie and in the idempotency key of a form.
const RANDOM_BYTES: usize = 16;
/// The number of hexadecimal digits in the form cookie. This cookie binds forms to a browser that has no open session.
const FORM_CHARS: usize = 2 * RANDOM_BYTES;

/// The context of a page: the facts about the browser's request.
#[derive(Clone)]
pub(crate) struct PageContext {
    /// The state that pages share.
    pub(crate) dashboard: Data<Dashboard>,
    /// The client's address and user agent.
    pub(crate) browser: Browser,
    /// The language of the pages.
    pub(crate) language: Language,
    /// The user and the open session, even if the login is not complete yet; `None` without an open session.
    pub(crate) visitor: Option<Visitor>,
    /// The secret that binds forms to this browser: the session cookie, or the form cookie if no session is open.
    secret: String,
    /// `true` if `secret` is a new form cookie, which the response sets.
    is_new_form_cookie: bool,
}

impl FromRequest for PageContext {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { Self::of(&request).await })
    }
}

impl PageContext {
    /// Returns the context of the page that a request names.
    pub(crate) async fn of(request: &HttpRequest) -> Result<Self, Failure> {
        let dashboard = request.app_data::<Data<Dashboard>>().cloned();
        let dashboard = dashboard.ok_or_else(|| Failure::Unavailable("the application has no dashboard".to_owned()))?;
        let site = &dashboard.site;
        let language = Language::of_cookie(cookies::read(request, site, Purpose::Language).as_deref());
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        // The server determines the client's address, also behind trusted proxies, and stores it in the extensions.
        let address = request.extensions().get::<IpAddr>().copied();
        let browser = Browser { address, agent: agent.to_owned() };
        let cookie = cookies::read(request, site, Purpose::Session);
        let visitor = match &cookie {
            Some(cookie) => sessions::find(&dashboard.logins, cookie, is_poll(request)).await?,
            None => None,
        };
        if let Some(Visitor { session, .. }) = &visitor
            && !dashboard.logins.throttle.take_request(session.id, dashboard.logins.ports.clock.now())
        {
            tracing::warn!(session = %session.id, "request refused; the session exceeds its limit of requests");
            return Err(Failure::Throttled);
        }
        // An open page continues to refresh itself after its session has ended. These requests are not logged.
        if cookie.is_some() && visitor.is_none() && !is_poll(request) {
            let client = browser.address.map(|address| address.to_string());
            tracing::info!(client, "cookie refused; it belongs to no open session");
        }
        let of_session = cookie.filter(|_| visitor.is_some());
        let of_forms = || cookies::read(request, site, Purpose::Form).filter(|value| value.len() == FORM_CHARS);
        let (secret, is_new_form_cookie) = match of_session.or_else(of_forms) {
            Some(secret) => (secret, false),
            None => (random_hex(&dashboard), true),
        };
        Ok(Self { dashboard, browser, language, visitor, secret, is_new_form_cookie })
    }

    /// Returns the token that each form of this browser must contain.
    pub(crate) fn token(&self) -> String {
        let hash = self.dashboard.logins.ports.keyed_hash.hash(FORM_PURPOSE, self.secret.as_bytes());
        hex::encode(hash.0)
    }

    /// Returns a random text, for the idempotency key of a form.
    pub(crate) fn random_key(&self) -> String {
        random_hex(&self.dashboard)
    }

    /// Returns `true` if `token` is the token of this browser's forms.
    pub(crate) fn has_token(&self, token: &str) -> bool {
        let Some(Ok(bytes)) = hex::decode(token).map(TryInto::try_into) else { return false };
        let hash = cais_ports::SecretHash(bytes);
        !self.is_new_form_cookie
            && self.dashboard.logins.ports.keyed_hash.verify(FORM_PURPOSE, self.secret.as_bytes(), &hash)
    }

    /// Returns the user of a complete login.
    ///
    /// # Errors
    /// [`Failure::LoginNeeded`] without such a login.
    pub(crate) fn logged_in(&self) -> Result<&Visitor, Failure> {
        self.user_at(SessionStage::Complete)
    }

    /// Returns the user whose password was right and whose code is missing.
    ///
    /// # Errors
    /// [`Failure::LoginNeeded`] without such a user.
    pub(crate) fn awaiting_code(&self) -> Result<&Visitor, Failure> {
        self.user_at(SessionStage::Password)
    }

    /// Returns the user of a complete login and the user's account.
    ///
    /// # Errors
    /// [`Failure::LoginNeeded`] without a complete login; [`Failure::NotFound`] for an operator.
    pub(crate) fn merchant(&self) -> Result<(&Visitor, AccountId), Failure> {
        let visitor = self.logged_in()?;
        visitor.user.role.account().map(|account| (visitor, account)).ok_or(Failure::NotFound)
    }

    /// Returns the operator of a complete login.
    ///
    /// # Errors
    /// [`Failure::LoginNeeded`] without a complete login; [`Failure::NotFound`] for a merchant.
    pub(crate) fn operator(&self) -> Result<&Visitor, Failure> {
        let visitor = self.logged_in()?;
        if visitor.user.role == Role::Operator { Ok(visitor) } else { Err(Failure::NotFound) }
    }

    /// Returns the account of a complete login.
    ///
    /// # Errors
    /// As for [`PageContext::merchant`]; [`Failure::Unavailable`] if the store fails.
    pub(crate) async fn account(&self) -> Result<Account, Failure> {
        let (_, account) = self.merchant()?;
        self.ports().queries.find_account(account).await?.ok_or(Failure::NotFound)
    }

    /// Returns the ports of the use cases.
    pub(crate) fn ports(&self) -> &Ports {
        &self.dashboard.logins.ports
    }

    fn user_at(&self, stage: SessionStage) -> Result<&Visitor, Failure> {
        self.visitor.as_ref().filter(|visitor| visitor.session.stage == stage).ok_or(Failure::LoginNeeded)
    }

    /// Returns the frame of the page.
    pub(crate) fn layout(&self) -> Layout {
        Layout::of(self)
    }

    /// Returns a page. If the form cookie is new, the response sets it.
    pub(crate) fn page(&self, status: StatusCode, template: &impl Template) -> HttpResponse {
        let mut response = layout::html(status, template);
        let site = &self.dashboard.site;
        if self.is_new_form_cookie
            && let Some(header) = cookies::set(site, Purpose::Form, self.secret.clone())
        {
            response.headers_mut().append(SET_COOKIE, header);
        }
        response
    }

    /// Returns the page with 200.
    pub(crate) fn ok(&self, template: &impl Template) -> HttpResponse {
        self.page(StatusCode::OK, template)
    }

    /// Returns the context with the new session in place of the old one, for the page that completes a login.
    pub(crate) fn with_session(&self, created: &NewSession, user: cais_ports::User) -> Self {
        let visitor = Some(Visitor { session: created.session.clone(), user });
        Self { visitor, secret: created.token.expose(), is_new_form_cookie: false, ..self.clone() }
    }

    /// Adds the cookie of a new session to a response.
    pub(crate) fn set_session_cookie(&self, mut response: HttpResponse, created: &NewSession) -> HttpResponse {
        if let Some(header) = cookies::set(&self.dashboard.site, Purpose::Session, created.token.expose()) {
            response.headers_mut().append(SET_COOKIE, header);
        }
        response
    }
}

/// Returns `true` if a script sent the request to refresh a part of an open page. The pages use `hx-get` only for such
/// refreshes, and send no form by script.
fn is_poll(request: &HttpRequest) -> bool {
    request.method() == Method::GET && request.headers().contains_key(POLL_HEADER)
}

fn random_hex(dashboard: &Dashboard) -> String {
    let mut bytes = [0; RANDOM_BYTES];
    dashboard.logins.ports.keyed_hash.fill_random(&mut bytes);
    hex::encode(bytes)
}

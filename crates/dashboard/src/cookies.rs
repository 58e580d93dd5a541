//! The cookies of the dashboard. Scripts cannot read them, and browsers do not send them with a POST from another
//! site.

use actix_web::HttpRequest;
use actix_web::http::header::{COOKIE, HeaderValue};
use cookie::{Cookie, SameSite};

use crate::state::Site;

/// A cookie's purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The token of the session.
    Session,
    /// A random value that binds forms to a browser without a session.
    Form,
    /// The chosen language.
    Language,
}

impl Purpose {
    /// Returns the name. Browsers accept a name with `__Host-` only over TLS, for this host and for all its paths. So
    /// no other host can set such a cookie.
    const fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Session, true) => "__Host-cais-session",
            (Self::Session, false) => "cais-session",
            (Self::Form, true) => "__Host-cais-form",
            (Self::Form, false) => "cais-form",
            (Self::Language, true) => "__Host-cais-language",
            (Self::Language, false) => "cais-language",
        }
    }
}

/// Returns the value of a request's cookie.
pub(crate) fn read(request: &HttpRequest, site: &Site, purpose: Purpose) -> Option<String> {
    let name = purpose.name(site.is_secure());
    let lines = request.headers().get_all(COOKIE).filter_map(|line| line.to_str().ok());
    let mut all = lines.flat_map(|line| Cookie::split_parse(line.to_owned())).flatten();
    all.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}

/// Returns the header that sets a cookie until the browser closes.
pub(crate) fn set(site: &Site, purpose: Purpose, value: String) -> Option<HeaderValue> {
    header(site, Cookie::new(purpose.name(site.is_secure()), value))
}

/// Returns the header that removes a cookie.
pub(crate) fn remove(site: &Site, purpose: Purpose) -> Option<HeaderValue> {
    let mut cookie = Cookie::new(purpose.name(site.is_secure()), "");
    cookie.set_max_age(cookie::time::Duration::ZERO);
    header(site, cookie)
}

fn header(site: &Site, mut cookie: Cookie<'_>) -> Option<HeaderValue> {
    cookie.set_path("/");
    cookie.set_http_only(true);
    // Not `Strict`: with it, a logged-in user who follows a link from another site to the dashboard would see the login
    // page.
    cookie.set_same_site(SameSite::Lax);
    if site.is_secure() {
        cookie.set_secure(true);
    }
    HeaderValue::try_from(cookie.to_string()).ok()
}

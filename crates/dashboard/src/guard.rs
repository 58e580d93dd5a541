//! The middleware of every page: adds the security headers to a response, and turns a failure into an error page.

use std::net::IpAddr;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage as _, HttpRequest, HttpResponse, ResponseError as _};
use askama::Template;

use crate::failure::Failure;
use crate::layout::{self, Layout};
use crate::state::Dashboard;

/// The value of `Content-Security-Policy`. Pages load scripts and styles only from this host, and images also from
/// `data:` URLs. Inline scripts and styles are blocked, and forms are sent only to this host.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'";

/// Runs the handler of a page, and adds the security headers to its response.
///
/// # Errors
/// Only errors of `actix-web`. Each [`Failure`] of a page becomes a response.
pub(crate) async fn guard(request: ServiceRequest, next: Next<BoxBody>) -> Result<ServiceResponse<BoxBody>, Error> {
    let response = next.call(request).await?;
    let mut failure = response.response().error().and_then(|error| error.as_error::<Failure>()).cloned();
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        failure = Some(Failure::OtherMethod);
    }
    let (request, mut response) = response.into_parts();
    if let Some(failure) = failure {
        log(&request, &failure);
        response = failure_page(&request, &failure);
    }
    let is_secure = request.app_data::<Data<Dashboard>>().is_some_and(|dashboard| dashboard.site.is_secure());
    add_headers(response.headers_mut(), is_secure);
    Ok(ServiceResponse::new(request, response))
}

fn log(request: &HttpRequest, failure: &Failure) {
    let route = request.match_pattern();
    let client = request.extensions().get::<IpAddr>().map(ToString::to_string);
    match failure {
        Failure::LoginNeeded => {}
        Failure::NotFound
        | Failure::OtherMethod
        | Failure::TooManyCodes
        | Failure::Throttled
        | Failure::FileUnfinished => {
            tracing::info!(route, client, reason = %failure, "page refused; the user sees the reason");
        }
        Failure::Forged(reason) | Failure::BadForm(reason) => {
            tracing::warn!(route, client, reason, "form refused; nothing was changed");
        }
        Failure::Unavailable(cause) => tracing::error!(route, cause, "page not shown; the user sees an error page"),
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    page: Layout,
    title: &'a str,
    text: &'a str,
}

fn failure_page(request: &HttpRequest, failure: &Failure) -> HttpResponse {
    let page = Layout::without_session(request);
    let t = page.t;
    let (title, text) = match failure {
        Failure::LoginNeeded => return layout::redirect("/login"),
        Failure::Forged(_) => (t.forged_title, t.forged_text),
        Failure::BadForm(_) => (t.bad_form_title, t.bad_form_text),
        Failure::NotFound => (t.not_found_title, t.not_found_text),
        Failure::OtherMethod => (t.other_method_title, t.other_method_text),
        Failure::TooManyCodes => (t.ended_title, t.ended_text),
        Failure::FileUnfinished => (t.file_unfinished_title, t.file_unfinished_text),
        Failure::Throttled => (t.throttled_title, t.throttled_text),
        Failure::Unavailable(_) => (t.unavailable_title, t.unavailable_text),
    };
    layout::html(failure.status_code(), &FailurePage { page, title, text })
}

fn add_headers(headers: &mut HeaderMap, is_secure: bool) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`, because browsers would then send `Origin: null` with forms.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_secure {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
}

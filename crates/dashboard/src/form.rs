//! A form that a browser sends. Its origin and its token are checked before the handler runs.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use url::form_urlencoded;

use crate::failure::Failure;
use crate::page_context::PageContext;
use crate::state::Site;

/// The name of the field with the token of [`PageContext::token`].
const TOKEN_FIELD: &str = "token";
/// The time in which the whole form must arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

/// A form of this site.
pub(crate) struct Form {
    /// The context of the page that the form was sent to.
    pub(crate) context: PageContext,
    fields: Vec<(String, String)>,
}

impl Form {
    /// Returns the value of a field without blanks around it; empty if the field is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns the value of a field as it was sent; empty if the field is missing.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Returns all values of a field.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

impl FromRequest for Form {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let body = Bytes::from_request(&request, payload);
        Box::pin(async move {
            check_origin(&request)?;
            let body = tokio::time::timeout(ARRIVES_WITHIN, body).await;
            let body = body.map_err(|_| Failure::BadForm("the form did not arrive within the time limit"))?;
            let body = body.map_err(|_| Failure::BadForm("the form is too large or did not arrive whole"))?;
            let context = PageContext::of(&request).await?;
            let fields: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
            let form = Self { context, fields };
            if !form.context.has_token(form.raw(TOKEN_FIELD)) {
                return Err(Failure::Forged("the token of the form is missing or wrong"));
            }
            // The parser replaces bytes that are not UTF-8 with U+FFFD. A form with this character is refused, because
            // a text that differs from the user's input must not be stored.
            if form.fields.iter().any(|(_, value)| value.contains(char::REPLACEMENT_CHARACTER)) {
                return Err(Failure::BadForm("the form is not UTF-8"));
            }
            Ok(form)
        })
    }
}

/// Checks that a form came from a page of this site.
///
/// # Errors
/// [`Failure::BadForm`] if the request has no form, or [`Failure::Forged`] if the form came from another site.
pub(crate) fn check_origin(request: &HttpRequest) -> Result<(), Failure> {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let kind = text(CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    let is_form = kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"));
    if !is_form {
        return Err(Failure::BadForm("the request has no form"));
    }
    let fetch_site = text(HeaderName::from_static("sec-fetch-site"));
    if fetch_site.is_some_and(|site| site != "same-origin") {
        return Err(Failure::Forged("the form came from another site"));
    }
    let dashboard = request.app_data::<actix_web::web::Data<crate::Dashboard>>();
    let is_own = dashboard.is_some_and(|dashboard| is_own(&dashboard.site, headers, text(ORIGIN)));
    if is_own { Ok(()) } else { Err(Failure::Forged("the Origin header of the form is missing or names another site")) }
}

/// Returns whether `origin` is the configured origin. If none is configured (in development), `origin` must name the
/// host of the request.
fn is_own(site: &Site, headers: &HeaderMap, origin: Option<&str>) -> bool {
    let Some(origin) = origin else { return false };
    if let Some(own) = &site.origin {
        return origin == own;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some() && authority == host
}

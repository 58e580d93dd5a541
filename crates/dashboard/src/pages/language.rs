//! Switches the language of the pages.

use actix_web::HttpResponse;
use actix_web::http::header::SET_COOKIE;

use crate::cookies::{self, Purpose};
use crate::form::Form;
use crate::layout::redirect;
use crate::texts::Language;

/// Stores the language in a cookie.
pub(crate) async fn submit(form: Form) -> HttpResponse {
    let language = Language::of_cookie(Some(form.get("language")));
    // The response does not lead back to the page of the form, because a redirect must contain no address from a
    // request.
    let mut response = redirect("/");
    if let Some(header) = cookies::set(&form.context.dashboard.site, Purpose::Language, language.code().to_owned()) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    response
}

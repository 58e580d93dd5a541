//! Ends the session of the browser.

use actix_web::HttpResponse;
use actix_web::http::header::SET_COOKIE;
use cais_use_cases::logins::sessions;

use crate::cookies::{self, Purpose};
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::redirect;

/// Ends the session and removes its cookie.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    if let Some(visitor) = &context.visitor {
        sessions::end(&context.dashboard.logins, visitor, visitor.session.id).await?;
    }
    let mut response = redirect("/login");
    if let Some(header) = cookies::remove(&context.dashboard.site, Purpose::Session) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}

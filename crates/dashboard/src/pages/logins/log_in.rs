//! The first step of a login.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use cais_ports::{Secret, SessionStage, Totp};
use cais_use_cases::logins::{LoginError, log_in};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/log_in.html")]
struct LogInPage<'a> {
    page: Layout,
    notice: Option<&'a str>,
    error: Option<&'a str>,
    email: &'a str,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext, request: HttpRequest) -> HttpResponse {
    if let Some(visitor) = &context.visitor {
        return match (visitor.session.stage, &visitor.user.totp) {
            // The browser dropped the page with the recovery codes, and kept the cookie of the session.
            (SessionStage::Complete, _) if request.query_string() == "enrolled" => redirect("/recovery-codes"),
            (SessionStage::Complete, _) => redirect("/"),
            (SessionStage::Password, Totp::Enrolled { .. }) => redirect("/login/code"),
            (SessionStage::Password, Totp::Missing | Totp::Enrolling { .. }) => redirect("/login/enrol"),
        };
    }
    let page = context.layout();
    let notice = match request.query_string() {
        "signed-up" => Some(page.t.log_in_after_sign_up),
        "password-set" => Some(page.t.log_in_after_password),
        "enrolled" => Some(page.t.log_in_after_enrolment),
        "too-many-codes" => Some(page.t.too_many_codes),
        _ => None,
    };
    context.ok(&LogInPage { page, notice, error: None, email: "" })
}

/// Checks e-mail and password.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let password = Secret::new(form.raw("password"));
    let begun = log_in::log_in(&context.dashboard.logins, &context.browser, form.get("email"), &password).await;
    let page = context.layout();
    let (status, error) = match begun {
        Ok(created) => return Ok(context.set_session_cookie(redirect("/login"), &created)),
        Err(LoginError::Refused) => (StatusCode::UNPROCESSABLE_ENTITY, page.t.log_in_wrong),
        Err(LoginError::Throttled) => (StatusCode::TOO_MANY_REQUESTS, page.t.throttled),
        Err(error) => return Err(error.into()),
    };
    Ok(context.page(status, &LogInPage { page, notice: None, error: Some(error), email: form.get("email") }))
}

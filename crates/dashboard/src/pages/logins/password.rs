//! Changes the password of a user. The form requires the present password.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_ports::Secret;
use cais_use_cases::logins::use_link::SetPasswordError;
use cais_use_cases::logins::{LoginError, password};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::Layout;
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/password.html")]
struct PasswordPage<'a> {
    page: Layout,
    notice: Option<&'a str>,
    error: Option<&'a str>,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.logged_in()?;
    Ok(context.ok(&PasswordPage { page: context.layout(), notice: None, error: None }))
}

/// Stores the new password.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (present, new) = (Secret::new(form.raw("present")), Secret::new(form.raw("password")));
    let changed =
        password::change(&context.dashboard.logins, &context.browser, context.logged_in()?, &present, &new).await;
    let page = context.layout();
    let t = page.t;
    let (status, error) = match changed {
        Ok(()) => return Ok(context.ok(&PasswordPage { page, notice: Some(t.password_changed), error: None })),
        Err(SetPasswordError::WeakPassword(_)) => (StatusCode::UNPROCESSABLE_ENTITY, t.password_wrong),
        Err(SetPasswordError::Login(LoginError::Refused)) => {
            (StatusCode::UNPROCESSABLE_ENTITY, t.password_present_wrong)
        }
        Err(SetPasswordError::Login(LoginError::Throttled)) => (StatusCode::TOO_MANY_REQUESTS, t.throttled),
        Err(SetPasswordError::Login(error)) => return Err(error.into()),
    };
    Ok(context.page(status, &PasswordPage { page, notice: None, error: Some(error) }))
}

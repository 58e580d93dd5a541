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
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "logins/password.html")]
struct PasswordPage<'a> {
    page: Layout,
    notice: Option<&'a str>,
    error: Option<&'a str>,
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    visit.complete()?;
    Ok(visit.ok(&PasswordPage { page: visit.layout(), notice: None, error: None }))
}

/// Stores the new password.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let (present, new) = (Secret::new(form.raw("present")), Secret::new(form.raw("password")));
    let changed = password::change(&visit.dashboard.logins, &visit.browser, visit.complete()?, &present, &new).await;
    let page = visit.layout();
    let t = page.t;
    let (status, error) = match changed {
        Ok(()) => return Ok(visit.ok(&PasswordPage { page, notice: Some(t.password_changed), error: None })),
        Err(SetPasswordError::WeakPassword(_)) => (StatusCode::UNPROCESSABLE_ENTITY, t.password_wrong),
        Err(SetPasswordError::Login(LoginError::Refused)) => {
            (StatusCode::UNPROCESSABLE_ENTITY, t.password_present_wrong)
        }
        Err(SetPasswordError::Login(LoginError::Throttled)) => (StatusCode::TOO_MANY_REQUESTS, t.throttled),
        Err(SetPasswordError::Login(error)) => return Err(error.into()),
    };
    Ok(visit.page(status, &PasswordPage { page, notice: None, error: Some(error) }))
}

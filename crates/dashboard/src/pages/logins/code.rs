//! The second step of a login: a one-time code, or a recovery code.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_use_cases::logins::{LoginError, code};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "logins/code.html")]
struct CodePage<'a> {
    page: Layout,
    error: Option<&'a str>,
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    visit.half()?;
    Ok(visit.ok(&CodePage { page: visit.layout(), error: None }))
}

/// Checks the code and completes the login.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let entered = code::enter(&visit.dashboard.logins, &visit.browser, visit.half()?, form.get("code")).await;
    let page = visit.layout();
    let (status, error) = match entered {
        Ok(created) => return Ok(visit.begin_session(redirect("/"), &created)),
        Err(LoginError::Refused) => (StatusCode::UNPROCESSABLE_ENTITY, page.t.code_wrong),
        Err(LoginError::Throttled) => (StatusCode::TOO_MANY_REQUESTS, page.t.throttled),
        Err(LoginError::Over | LoginError::LastCode) => return Ok(redirect("/login?too-many-codes")),
        Err(error) => return Err(error.into()),
    };
    Ok(visit.page(status, &CodePage { page, error: Some(error) }))
}

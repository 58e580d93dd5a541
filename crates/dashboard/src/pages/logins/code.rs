//! The second step of a login: a one-time code, or a recovery code.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_use_cases::logins::{LoginError, code};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/code.html")]
struct CodePage<'a> {
    page: Layout,
    error: Option<&'a str>,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.awaiting_code()?;
    Ok(context.ok(&CodePage { page: context.layout(), error: None }))
}

/// Checks the code and completes the login.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let entered =
        code::enter(&context.dashboard.logins, &context.browser, context.awaiting_code()?, form.get("code")).await;
    let page = context.layout();
    let (status, error) = match entered {
        Ok(created) => return Ok(context.set_session_cookie(redirect("/"), &created)),
        Err(LoginError::Refused) => (StatusCode::UNPROCESSABLE_ENTITY, page.t.code_wrong),
        Err(LoginError::Throttled) => (StatusCode::TOO_MANY_REQUESTS, page.t.throttled),
        Err(LoginError::Over | LoginError::LastCode) => return Ok(redirect("/login?too-many-codes")),
        Err(error) => return Err(error.into()),
    };
    Ok(context.page(status, &CodePage { page, error: Some(error) }))
}

//! Sets a password with a one-time link.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_ports::Secret;
use cais_use_cases::logins::use_link::{self, SetPasswordError};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/welcome.html")]
struct WelcomePage<'a> {
    page: Layout,
    error: Option<&'a str>,
    email: String,
    link: &'a str,
}

/// Shows the form, if the link can still be used.
pub(crate) async fn show(context: PageContext, link: web::Path<String>) -> Result<HttpResponse, Failure> {
    let user = use_link::find(&context.dashboard.logins, &link).await?;
    Ok(context.ok(&WelcomePage { page: context.layout(), error: None, email: user.email, link: &link }))
}

/// Stores the password.
pub(crate) async fn submit(form: Form, link: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let logins = &context.dashboard.logins;
    match use_link::use_link(logins, &context.browser, &link, &Secret::new(form.raw("password"))).await {
        Ok(()) => Ok(redirect("/login?password-set")),
        Err(SetPasswordError::WeakPassword(_)) => {
            let user = use_link::find(logins, &link).await?;
            let page = context.layout();
            let error = Some(page.t.password_wrong);
            let shown = WelcomePage { page, error, email: user.email, link: &link };
            Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
        }
        Err(SetPasswordError::Login(error)) => Err(error.into()),
    }
}

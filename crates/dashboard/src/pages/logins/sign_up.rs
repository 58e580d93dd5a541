//! Opens an account with pending KYC.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::document::Document;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::Secret;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::logins::LoginError;
use cais_use_cases::logins::sign_up::{SignUp, SignUpError, sign_up};

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

/// The most characters of a name, as in the command line.
const MAX_NAME_CHARS: usize = 200;

#[derive(Template)]
#[template(path = "logins/sign_up.html")]
struct SignUpPage<'a> {
    page: Layout,
    error: Option<&'a str>,
    email: &'a str,
    name: &'a str,
    document: &'a str,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> HttpResponse {
    let page = context.layout();
    context.ok(&SignUpPage { page, error: None, email: "", name: "", document: "" })
}

/// Opens the account. If the e-mail is in use, no account is opened, but the response is the same.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let page = context.layout();
    let t = page.t;
    let (email, name, document) = (form.get("email"), form.get("name"), form.get("document"));
    let (status, error) = match request(&form, t) {
        Ok(request) => match sign_up(&context.dashboard.logins, &context.browser, request).await {
            Ok(()) => return Ok(redirect("/login?signed-up")),
            Err(SignUpError::WeakPassword(_)) => (StatusCode::UNPROCESSABLE_ENTITY, t.password_wrong),
            Err(SignUpError::Login(LoginError::Throttled)) => (StatusCode::TOO_MANY_REQUESTS, t.throttled),
            Err(SignUpError::Login(error)) => return Err(error.into()),
        },
        Err(text) => (StatusCode::UNPROCESSABLE_ENTITY, text),
    };
    Ok(context.page(status, &SignUpPage { page, error: Some(error), email, name, document }))
}

/// Returns the request of the form, or the text about the form's first mistake.
fn request(form: &Form, t: &'static crate::texts::Texts) -> Result<SignUp, &'static str> {
    let name = form.get("name");
    let parsed = Text::parse(name, MAX_NAME_CHARS, LineBreaks::Refused).ok().filter(|_| !name.is_empty());
    Ok(SignUp {
        email: AccountEmail::parse(form.get("email")).map_err(|_| t.sign_up_email_wrong)?,
        name: parsed.ok_or(t.sign_up_name_wrong)?,
        document: Document::parse(form.get("document")).map_err(|_| t.sign_up_document_wrong)?,
        password: Secret::new(form.raw("password")),
    })
}

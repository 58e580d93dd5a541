//! Shows the number of unused recovery codes, and replaces the codes.

use actix_web::HttpResponse;
use askama::Template;
use cais_ports::{PendingAction, Totp};
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "logins/recovery_codes.html")]
struct CodesPage {
    page: Layout,
    left: usize,
}

/// The page with new recovery codes, which are shown once.
#[derive(Template)]
#[template(path = "logins/recovery.html")]
pub(crate) struct NewCodesPage {
    pub(crate) page: Layout,
    pub(crate) codes: Vec<String>,
}

/// Shows the number of codes.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let Totp::Enrolled { recovery, .. } = &context.logged_in()?.user.totp else { return Err(Failure::NotFound) };
    Ok(context.ok(&CodesPage { page: context.layout(), left: recovery.len() }))
}

/// Stores the intent to replace the codes. The codes are replaced after the user has confirmed the intent.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let visitor = form.context.logged_in()?;
    let id = begin::begin(&form.context.dashboard.logins, visitor, PendingAction::RenewRecoveryCodes).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

//! Shows the number of unused recovery codes, and replaces the codes.

use actix_web::HttpResponse;
use askama::Template;
use cais_ports::{PendingAction, Totp};
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::visit::Visit;

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
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let Totp::Enrolled { recovery, .. } = &visit.complete()?.user.totp else { return Err(Failure::NotFound) };
    Ok(visit.ok(&CodesPage { page: visit.layout(), left: recovery.len() }))
}

/// Stores the intent to replace the codes. The codes are replaced after the user has confirmed the intent.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let visitor = form.visit.complete()?;
    let id = begin::begin(&form.visit.dashboard.logins, visitor, PendingAction::RenewRecoveryCodes).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

//! The first step of a revocation: the page shows the key and the consequence.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{ApiKeyRecord, PendingAction};
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "keys/revoke.html")]
struct RevokeKeyPage {
    page: Layout,
    prefix: String,
    name: String,
}

/// Shows the key.
pub(crate) async fn show(visit: Visit, prefix: web::Path<String>) -> Result<HttpResponse, Failure> {
    let key = own_key(&visit, &prefix).await?;
    Ok(visit.ok(&RevokeKeyPage { page: visit.layout(), prefix: key.prefix.to_string(), name: key.name }))
}

/// Stores the intent to revoke the key. The key is revoked after the user has confirmed the intent.
pub(crate) async fn submit(form: Form, prefix: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let key = own_key(visit, &prefix).await?;
    let action = PendingAction::RevokeKey { prefix: key.prefix };
    let id = begin::begin(&visit.dashboard.logins, visit.complete()?, action).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

/// Returns the merchant's key with this prefix, unless the key is revoked.
async fn own_key(visit: &Visit, prefix: &str) -> Result<ApiKeyRecord, Failure> {
    let (_, account) = visit.merchant()?;
    let prefix = KeyPrefix::parse(prefix).map_err(|_| Failure::NotFound)?;
    let found = visit.dashboard.logins.ports.queries.find_key(&prefix).await?;
    let (key, _) = found.ok_or(Failure::NotFound)?;
    if key.account == account && key.revoked_at.is_none() { Ok(key) } else { Err(Failure::NotFound) }
}

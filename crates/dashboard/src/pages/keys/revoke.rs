//! The first step of a revocation: the page shows the key and the consequence.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{ApiKeyRecord, PendingAction};
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;

#[derive(Template)]
#[template(path = "keys/revoke.html")]
struct RevokeKeyPage {
    page: Layout,
    prefix: String,
    name: String,
}

/// Shows the key.
pub(crate) async fn show(context: PageContext, prefix: web::Path<String>) -> Result<HttpResponse, Failure> {
    let key = own_key(&context, &prefix).await?;
    Ok(context.ok(&RevokeKeyPage { page: context.layout(), prefix: key.prefix.to_string(), name: key.name }))
}

/// Stores the intent to revoke the key. The key is revoked after the user has confirmed the intent.
pub(crate) async fn submit(form: Form, prefix: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let key = own_key(context, &prefix).await?;
    let action = PendingAction::RevokeKey { prefix: key.prefix };
    let id = begin::begin(&context.dashboard.logins, context.logged_in()?, action).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

/// Returns the merchant's key with this prefix, unless the key is revoked.
async fn own_key(context: &PageContext, prefix: &str) -> Result<ApiKeyRecord, Failure> {
    let (_, account) = context.merchant()?;
    let prefix = KeyPrefix::parse(prefix).map_err(|_| Failure::NotFound)?;
    let found = context.dashboard.logins.ports.queries.find_key(&prefix).await?;
    let (key, _) = found.ok_or(Failure::NotFound)?;
    if key.account == account && key.revoked_at.is_none() { Ok(key) } else { Err(Failure::NotFound) }
}

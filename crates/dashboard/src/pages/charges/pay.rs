//! Pays a charge at the built-in sandbox, from the page of the charge.

use actix_web::{HttpResponse, web};

use super::show::read;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::redirect;
use crate::pages::pay::pay_in_sandbox;

/// Pays the whole amount, as the payer would.
pub(crate) async fn pay(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let charge = read(&form.context, &id).await?;
    pay_in_sandbox(&form.context.dashboard, &charge).await?;
    Ok(redirect(&format!("/charges/{}", charge.id)))
}

//! Deletes an endpoint after a page that names the consequence.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::webhook::Endpoint;
use cais_use_cases::webhooks::delete;

use super::own;
use super::refusals::write_refused;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::texts::webhooks::WebhookTexts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "webhooks/delete.html")]
struct DeletePage<'a> {
    page: Layout,
    t: &'static WebhookTexts,
    error: Option<&'a str>,
    id: String,
    url: String,
}

impl<'a> DeletePage<'a> {
    fn new(visit: &Visit, endpoint: &Endpoint, error: Option<&'a str>) -> Self {
        let (page, t) = (visit.layout(), WebhookTexts::of(visit.language));
        Self { page, t, error, id: endpoint.id.to_string(), url: endpoint.url.to_string() }
    }
}

/// Shows the endpoint and the consequence.
pub(crate) async fn show(visit: Visit, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let endpoint = own(&visit, &id).await?;
    Ok(visit.ok(&DeletePage::new(&visit, &endpoint, None)))
}

/// Deletes the endpoint.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let account = visit.account().await?;
    let endpoint = own(visit, &id).await?;
    let operator = visit.complete()?.operator(&visit.browser);
    match delete::delete_by(visit.ports(), &operator, &account, endpoint.id).await {
        Ok(()) => Ok(redirect("/webhooks")),
        Err(error) => {
            let text = write_refused(error, WebhookTexts::of(visit.language))?;
            Ok(visit.page(StatusCode::UNPROCESSABLE_ENTITY, &DeletePage::new(visit, &endpoint, Some(text))))
        }
    }
}

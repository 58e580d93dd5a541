//! Deletes an endpoint after a page that names the consequence.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::webhook::Endpoint;
use cais_use_cases::webhooks::delete;

use super::find_endpoint;
use super::refusals::write_refused;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

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
    fn new(context: &PageContext, endpoint: &Endpoint, error: Option<&'a str>) -> Self {
        let (page, t) = (context.layout(), WebhookTexts::of(context.language));
        Self { page, t, error, id: endpoint.id.to_string(), url: endpoint.url.to_string() }
    }
}

/// Shows the endpoint and the consequence.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let endpoint = find_endpoint(&context, &id).await?;
    Ok(context.ok(&DeletePage::new(&context, &endpoint, None)))
}

/// Deletes the endpoint.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let endpoint = find_endpoint(context, &id).await?;
    let actor = context.logged_in()?.actor(&context.browser);
    match delete::delete_by(context.ports(), &actor, &account, endpoint.id).await {
        Ok(()) => Ok(redirect("/webhooks")),
        Err(error) => {
            let text = write_refused(error, WebhookTexts::of(context.language))?;
            Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &DeletePage::new(context, &endpoint, Some(text))))
        }
    }
}

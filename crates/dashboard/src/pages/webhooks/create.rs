//! Creates a webhook endpoint. Only the response to the form shows the endpoint's secret.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{MAX_ENDPOINTS, WebhookUrl};
use cais_ports::PageRequest;
use cais_use_cases::webhooks::create::{self, CreateEndpoint, CreateEndpointError};
use cais_use_cases::webhooks::list as endpoints;

use super::fields::{self, Fields};
use super::refusals::create_refused;
use super::rotate::SecretPage;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct NewPage<'a> {
    page: Layout,
    t: &'static WebhookTexts,
    error: Option<&'a str>,
    /// The id of the endpoint that already has the URL.
    existing: Option<String>,
    fields: Fields,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    let (page, t) = (context.layout(), WebhookTexts::of(context.language));
    Ok(context.ok(&NewPage { page, t, error: None, existing: None, fields: Fields::new() }))
}

/// Creates the endpoint.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let (page, t) = (context.layout(), WebhookTexts::of(context.language));
    let mut existing = None;
    let refused = match fields::read(&form, t) {
        Ok(fields::Values { url, description, subscription }) => {
            let request = CreateEndpoint { url: url.clone(), subscription, description };
            let actor = context.logged_in()?.actor(&context.browser);
            match create::create_by(context.ports(), &actor, &account, request).await {
                Ok((endpoint, secret)) => return Ok(context.ok(&SecretPage::new(context, &endpoint, &secret))),
                Err(error) => {
                    if error == CreateEndpointError::UrlTaken {
                        existing = with_url(context, account.id, &url).await?;
                    }
                    create_refused(error, t)?
                }
            }
        }
        Err(text) => text,
    };
    let shown = NewPage { page, t, error: Some(refused), existing, fields: Fields::sent(&form) };
    Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
}

/// Returns the id of the account's endpoint with this URL.
async fn with_url(context: &PageContext, account: AccountId, url: &WebhookUrl) -> Result<Option<String>, Failure> {
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let endpoints = endpoints::list(context.ports(), account, all).await?.rows;
    Ok(endpoints.into_iter().find(|endpoint| endpoint.url == *url).map(|endpoint| endpoint.id.to_string()))
}

//! The first step of a rotation of an endpoint's secret, and the page that shows a new secret once.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::webhook::{Endpoint, MAX_GRACE_S};
use cais_ports::{PendingAction, SigningSecret};
use cais_use_cases::logins::begin;

use super::{find_endpoint, show};
use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

#[derive(Template)]
#[template(path = "webhooks/secret.html")]
pub(crate) struct SecretPage {
    page: Layout,
    t: &'static WebhookTexts,
    id: String,
    url: String,
    secret: String,
    previous_until: Option<When>,
}

impl SecretPage {
    pub(crate) fn new(context: &PageContext, endpoint: &Endpoint, secret: &SigningSecret) -> Self {
        let previous_until = endpoint.previous.as_ref().map(|previous| When::of(previous.until, context.language));
        Self {
            page: context.layout(),
            t: WebhookTexts::of(context.language),
            id: endpoint.id.to_string(),
            url: endpoint.url.to_string(),
            secret: secret.reveal(),
            previous_until,
        }
    }
}

/// Stores the intent to rotate the secret. The secret is rotated after the user has confirmed the intent.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (endpoint, t) = (find_endpoint(context, &id).await?, WebhookTexts::of(context.language));
    let grace_s = form.get("grace").parse().ok().filter(|seconds| *seconds <= MAX_GRACE_S);
    let Some(grace_s) = grace_s else { return show::refused(context, &endpoint, None, t.grace_wrong).await };
    if context.account().await?.permit_write().is_err() {
        return show::refused(context, &endpoint, None, t.suspended).await;
    }
    let action = PendingAction::RotateSecret { endpoint: endpoint.id, grace_s };
    let id = begin::begin(&context.dashboard.logins, context.logged_in()?, action).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

//! The first step of a rotation of an endpoint's secret, and the page that shows a new secret once.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::webhook::{Endpoint, MAX_GRACE_S};
use cais_ports::{PendingAction, SigningSecret};
use cais_use_cases::logins::begin;

use super::{own, show};
use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::texts::webhooks::WebhookTexts;
use crate::visit::Visit;

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
    pub(crate) fn new(visit: &Visit, endpoint: &Endpoint, secret: &SigningSecret) -> Self {
        let previous_until = endpoint.previous.as_ref().map(|previous| When::of(previous.until, visit.language));
        Self {
            page: visit.layout(),
            t: WebhookTexts::of(visit.language),
            id: endpoint.id.to_string(),
            url: endpoint.url.to_string(),
            secret: secret.reveal(),
            previous_until,
        }
    }
}

/// Stores the intent to rotate the secret. The secret is rotated after the user has confirmed the intent.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let (endpoint, t) = (own(visit, &id).await?, WebhookTexts::of(visit.language));
    let grace_s = form.get("grace").parse().ok().filter(|seconds| *seconds <= MAX_GRACE_S);
    let Some(grace_s) = grace_s else { return show::refused(visit, &endpoint, None, t.grace_wrong).await };
    if visit.account().await?.permit_write().is_err() {
        return show::refused(visit, &endpoint, None, t.suspended).await;
    }
    let action = PendingAction::RotateSecret { endpoint: endpoint.id, grace_s };
    let id = begin::begin(&visit.dashboard.logins, visit.complete()?, action).await?;
    Ok(redirect(&format!("/confirm/{id}")))
}

//! Rotates the secret of an endpoint, and shows a new secret once.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::merchant::webhook::{Endpoint, MAX_GRACE_S};
use cais_ports::SigningSecret;
use cais_use_cases::webhooks::rotate;

use super::refusals::write_refused;
use super::{own, show};
use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::Layout;
use crate::texts::webhooks::WebhookTexts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "webhooks/secret.html")]
pub(super) struct SecretPage {
    page: Layout,
    t: &'static WebhookTexts,
    id: String,
    url: String,
    secret: String,
    previous_until: Option<When>,
}

impl SecretPage {
    pub(super) fn new(visit: &Visit, endpoint: &Endpoint, secret: &SigningSecret) -> Self {
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

/// Rotates the secret.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let visit = &form.visit;
    let account = visit.account().await?;
    let (endpoint, t) = (own(visit, &id).await?, WebhookTexts::of(visit.language));
    let grace_s = form.get("grace").parse().ok().filter(|seconds| *seconds <= MAX_GRACE_S);
    let Some(grace_s) = grace_s else { return show::refused(visit, &endpoint, None, t.grace_wrong).await };
    match rotate::rotate(visit.ports(), &account, endpoint.id, grace_s).await {
        Ok((endpoint, secret)) => Ok(visit.ok(&SecretPage::new(visit, &endpoint, &secret))),
        Err(error) => show::refused(visit, &endpoint, None, write_refused(error, t)?).await,
    }
}

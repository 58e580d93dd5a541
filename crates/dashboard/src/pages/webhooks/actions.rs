//! Actions on an endpoint that lead back to its page: change of the fields, pause, activation, test and resend.

use actix_web::{HttpResponse, web};
use cais_domain::ids::DeliveryId;
use cais_domain::merchant::webhook::{Endpoint, EndpointChange};
use cais_ports::PendingAction;
use cais_use_cases::logins::begin;
use cais_use_cases::webhooks::{change, deliveries, test};

use super::fields::{self, Fields};
use super::refusals::{change_refused, send_again_refused};
use super::{find_endpoint, show};
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::redirect;
use crate::texts::webhooks::WebhookTexts;

/// Changes URL, description and events. A new URL needs a one-time code, because events are then sent to another place.
/// The whole change is stored as a pending action until the user enters the code.
pub(crate) async fn change(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let endpoint = find_endpoint(&form.context, &id).await?;
    match fields::read(&form, WebhookTexts::of(form.context.language)) {
        Ok(fields::Values { url, description, subscription }) if url != endpoint.url => {
            let context = &form.context;
            match change::check_url(context.ports(), &context.account().await?, endpoint.id, &url).await {
                Ok(()) => {
                    let endpoint = endpoint.id;
                    let action = PendingAction::MoveEndpoint { endpoint, url, subscription, description };
                    let id = begin::begin(&context.dashboard.logins, context.logged_in()?, action).await?;
                    Ok(redirect(&format!("/confirm/{id}")))
                }
                Err(error) => {
                    let text = change_refused(error, WebhookTexts::of(context.language))?;
                    show::refused(context, &endpoint, Some(Fields::sent(&form)), text).await
                }
            }
        }
        Ok(fields::Values { url, description, subscription }) => {
            let request = EndpointChange {
                url: Some(url),
                subscription: Some(subscription),
                description: Some(description),
                active: None,
            };
            apply(&form, endpoint, request, Some(Fields::sent(&form))).await
        }
        Err(text) => show::refused(&form.context, &endpoint, Some(Fields::sent(&form)), text).await,
    }
}

/// Pauses the endpoint.
pub(crate) async fn pause(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let endpoint = find_endpoint(&form.context, &id).await?;
    apply(&form, endpoint, EndpointChange { active: Some(false), ..EndpointChange::default() }, None).await
}

/// Activates the endpoint, also after the service disabled it.
pub(crate) async fn activate(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let endpoint = find_endpoint(&form.context, &id).await?;
    apply(&form, endpoint, EndpointChange { active: Some(true), ..EndpointChange::default() }, None).await
}

async fn apply(
    form: &Form,
    endpoint: Endpoint,
    request: EndpointChange,
    sent: Option<Fields>,
) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let actor = context.logged_in()?.actor(&context.browser);
    match change::change_by(context.ports(), &actor, &account, endpoint.id, request).await {
        Ok(endpoint) => Ok(redirect(&format!("/webhooks/{}", endpoint.id))),
        Err(error) => {
            let text = change_refused(error, WebhookTexts::of(context.language))?;
            show::refused(context, &endpoint, sent, text).await
        }
    }
}

/// Sends a test event to the endpoint.
pub(crate) async fn send_test(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let endpoint = find_endpoint(context, &id).await?;
    let sent = test::test(context.ports(), &account, endpoint.id).await;
    match sent {
        Ok(_) => Ok(redirect(&format!("/webhooks/{}", endpoint.id))),
        Err(error) => {
            let text = send_again_refused(error, WebhookTexts::of(context.language))?;
            show::refused(context, &endpoint, None, text).await
        }
    }
}

/// Sends a delivery again.
pub(crate) async fn resend(form: Form, path: web::Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let (endpoint, delivery) = path.into_inner();
    let endpoint = find_endpoint(context, &endpoint).await?;
    let delivery = DeliveryId::parse(&delivery).map_err(|_| Failure::NotFound)?;
    let sent = deliveries::resend(context.ports(), &account, endpoint.id, delivery).await;
    match sent {
        Ok(_) => Ok(redirect(&format!("/webhooks/{}", endpoint.id))),
        Err(error) => {
            let text = send_again_refused(error, WebhookTexts::of(context.language))?;
            show::refused(context, &endpoint, None, text).await
        }
    }
}

//! `POST /v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::{DeliveryId, kind};
use cais_strict_json::Issues;
use cais_use_cases::webhooks::deliveries;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::failures::{Errors, OfBody, OfEndpointAction};
use crate::describe::{examples, parameters};
use crate::error::ApiError;
use crate::input::{Input, NoFields, NoQuery, OptionalJson, Part, Parts};
use crate::named::{self, ById, InPath};
use crate::reply;
use crate::resources::webhook::Delivery;

/// The path parameter that has the delivery's id.
const DELIVERY_ID: &str = "delivery_id";

/// The id of a delivery in the path.
#[derive(Debug)]
pub struct OneDelivery(pub DeliveryId);

impl Part for OneDelivery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        named::id(&parts.segment(DELIVERY_ID), DELIVERY_ID, issues).map(Self)
    }
}

impl IntoParams for OneDelivery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::in_path(DELIVERY_ID, <kind::Delivery as InPath>::DESCRIPTION)
    }
}

/// Sends a delivery again at once, with a new schedule of retries.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, `rate_limit_exceeded`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "resendWebhookDelivery",
    tag = "webhooks",
    summary = "Resend a delivery",
    description = "Sends the delivery at once, with a new schedule of attempts and the same event id. A cancelled delivery stays cancelled. At most 20 test deliveries and resends of an endpoint wait at a time; a further request is answered 429. Needs no body. Scope: `webhooks:write`.",
    params(ById<kind::Endpoint>, OneDelivery),
    responses(
        (status = 202, description = "The delivery.", body = Delivery, example = json!(examples::pending_delivery())),
        Errors<(OfBody, OfEndpointAction)>,
    ),
)]
#[post("/webhook-endpoints/{id}/deliveries/{delivery_id}/resend")]
pub async fn resend_delivery(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Endpoint>, OneDelivery, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(endpoint), OneDelivery(id), _)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let work = async move { deliveries::resend(&state.ports, &caller.account, endpoint, id).await };
    let delivery = run_detached(work).await??;
    Ok(reply::json(StatusCode::ACCEPTED, &Delivery::from(&delivery)))
}

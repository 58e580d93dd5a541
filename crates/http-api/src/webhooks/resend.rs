//! `POST /v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_domain::ids::kind;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::deliveries;

use crate::call::{Call, run_detached};
use crate::charges::cancel::no_fields;
use crate::error::ApiError;
use crate::named;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::Delivery;
use crate::routes::Route;

/// The route of `resend_delivery`.
pub const ROUTE: Route = Route::write(
    "/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend",
    Scope::WebhooksWrite,
    |call, caller| Box::pin(resend_delivery(call, caller)),
    description,
);

/// Sends a delivery again at once, with a new schedule of retries.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, a missing permission to write; an error of the store.
async fn resend_delivery(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let endpoint = super::named(call, &issues);
    let id = named::id::<kind::Delivery>(call.params.second(), "delivery_id", &issues);
    no_fields(&call.body, &issues);
    let (endpoint, id) = issues.unless_any(endpoint.zip(id))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let work = async move { deliveries::resend(&state.ports, &caller.account, endpoint, id).await };
    let delivery = run_detached(work).await??;
    Ok(Reply { status: StatusCode::ACCEPTED, ..Reply::json(to_json(&Delivery::from(&delivery))) })
}

fn description() -> operation::Description {
    operation::Description {
        errors: operation::ACTS,
        ..operation::plain(
            "resendWebhookDelivery",
            "webhooks",
            "Deliver again",
            "Sends the delivery at once, with a new schedule of attempts and the same event id. A cancelled delivery stays cancelled. At most 20 tests and resends of an endpoint wait at a time; the next request is answered 429. Needs no body.",
            vec![operation::json("202", "The delivery.", "Delivery", examples::pending_delivery())],
        )
    }
}

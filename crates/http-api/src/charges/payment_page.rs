//! `GET /v1/charges/{id}/payment-page`.

use actix_web::http::StatusCode;
use actix_web::http::header::HOST;
use actix_web::{HttpRequest, HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::charges::{fetch, payment_page};
use serde::Serialize;
use utoipa::ToSchema;

use crate::context::{Authorized, ChargesRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;

/// The payment page of a charge.
#[derive(Serialize, ToSchema)]
pub struct PaymentPage {
    /// The address for the payer. Every holder of the address can see and pay the charge.
    #[schema(format = "uri")]
    url: String,
}

/// Returns the address of the page on which the payer pays a charge.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
#[utoipa::path(
    operation_id = "getChargePaymentPage",
    tag = "charges",
    summary = "Fetch the address of a charge's payment page",
    description = "A public page for the payer: merchant's name, amount, description, QR code, copy-and-paste code, time left and live status, without the payer's data. The address cannot be guessed and never changes. Images of the QR code for e-mails are `{url}/qr.png` and `{url}/qr.svg`. Scope: `charges:read`.",
    params(Named<kind::Charge>),
    responses(
        (status = 200, description = "The page.", body = PaymentPage,
            example = json!(examples::literal(r#"{"url":"https://pay.example/pay/0190163d8694739b9c5e3f1a2b4c6d7e5f0c3b2a19d8e7f60413223140516273"}"#))),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/charges/{id}/payment-page")]
pub async fn get_payment_page(
    call: Authorized<ChargesRead>,
    input: Input<(NoQuery, Named<kind::Charge>)>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let ports = &call.state.ports;
    let charge = fetch::fetch(ports, &call.state.syncs, call.caller.account.id, &name).await;
    let charge = charge.map_err(super::fetch_error)?;
    let host = || request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let base = call.state.public_url.clone().unwrap_or_else(|| format!("http://{}", host()));
    let url = payment_page::url(ports, &base, charge.id);
    Ok(reply::json(StatusCode::OK, &PaymentPage { url }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::values::to_json;

    #[test]
    fn payment_page_has_its_field() {
        assert_eq!(to_json(&PaymentPage { url: "https://a/\"b\"".to_owned() }), br#"{"url":"https://a/\"b\""}"#);
    }
}

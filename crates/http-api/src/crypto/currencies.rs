//! `GET /v1/crypto/currencies`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::reply;
use crate::resources::crypto_quote::{CryptoCurrency, CryptoCurrencyList};

/// Returns all currencies with their current minimums.
///
/// # Errors
/// `VALIDATION_ERROR` for any query parameter; `service_unavailable` if no price of any currency can be read.
#[utoipa::path(
    operation_id = "listCryptoCurrencies",
    tag = "crypto",
    summary = "List crypto currencies",
    description = "The minimums follow the current prices and are at most ten seconds old. Empty if the service has no crypto processor. Scope: `crypto:read`.",
    responses(
        (status = 200, description = "All currencies.", body = CryptoCurrencyList,
            example = json!(examples::crypto_currencies())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/crypto/currencies")]
pub async fn list_currencies(call: Authorized<CryptoRead>, input: Input<NoQuery>) -> Result<HttpResponse, ApiError> {
    let Input(NoQuery) = input;
    let ports = &call.state.ports;
    let current = match &ports.crypto {
        Some(sources) => call.state.currencies.list(ports, sources, &call.caller.account).await?,
        None => Vec::new(),
    };
    let data = current.into_iter().map(CryptoCurrency::from).collect();
    Ok(reply::json(StatusCode::OK, &CryptoCurrencyList { data }))
}

//! `GET /v1/crypto/quotes/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::quotes::{self, PriceRefusal};

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfRead};
use crate::error::ApiError;
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::crypto_quote::CryptoQuoteDetail;

/// Returns a quote with the inputs of its rate.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "getCryptoQuote",
    tag = "crypto",
    summary = "Fetch a crypto quote",
    description = "Shows the inputs of the rate too. The rate of a deposit is `usdt_per_coin` × `brl_per_usd` less the spread. The rate of a withdrawal is the same product plus the spread. Scope: `crypto:read`.",
    params(ById<kind::CryptoQuote>),
    responses(
        (status = 200, description = "The quote with its inputs.", body = CryptoQuoteDetail,
            example = json!(examples::crypto_quote_detail())),
        Errors<OfRead>,
    ),
)]
#[get("/crypto/quotes/{id}")]
pub async fn get_quote(
    call: Authorized<CryptoRead>,
    input: Input<(NoQuery, ById<kind::CryptoQuote>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id))) = input;
    let found = quotes::find(&call.state.ports, call.caller.account.id, id).await?;
    let quote = found.ok_or(PriceRefusal::QuoteNotFound)?;
    Ok(reply::json(StatusCode::OK, &CryptoQuoteDetail::from(&quote)))
}

//! `GET /v1/crypto/deposits/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::deposits::fetch;

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::crypto::CryptoDeposit;

/// Returns the deposit with the id or `external_id` in the path.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
#[utoipa::path(
    operation_id = "getCryptoDeposit",
    tag = "crypto",
    summary = "Fetch a crypto deposit",
    description = "A deposit that can still receive coins is refreshed from the processor first. Scope: `crypto:read`.",
    params(Named<kind::CryptoDeposit>),
    responses(
        (status = 200, description = "The deposit.", body = CryptoDeposit,
            example = json!(examples::completed_crypto_deposit())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/crypto/deposits/{id}")]
pub async fn get_deposit(
    call: Authorized<CryptoRead>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let found = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let deposit = found.map_err(super::fetch_error)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.crypto_deposit(&deposit)))
}

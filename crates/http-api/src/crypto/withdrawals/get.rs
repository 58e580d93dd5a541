//! `GET /v1/crypto/withdrawals/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::withdrawals::fetch;

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::crypto::CryptoWithdrawal;

/// Returns the withdrawal with the id or `external_id` in the path.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
#[utoipa::path(
    operation_id = "getCryptoWithdrawal",
    tag = "crypto",
    summary = "Fetch a crypto withdrawal",
    description = "A withdrawal whose outcome is open is refreshed from the processor first. Scope: `crypto:read`.",
    params(Named<kind::CryptoWithdrawal>),
    responses(
        (status = 200, description = "The withdrawal.", body = CryptoWithdrawal,
            example = json!(examples::completed_crypto_withdrawal())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/crypto/withdrawals/{id}")]
pub async fn get_withdrawal(
    call: Authorized<CryptoRead>,
    input: Input<(NoQuery, Named<kind::CryptoWithdrawal>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let found = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let withdrawal = found.map_err(super::fetch_error)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.crypto_withdrawal(&withdrawal)))
}

//! `GET /v1/crypto/deposits/{id}/payments`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::deposits::payments;

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::crypto_payment::CryptoDepositPaymentList;

/// Returns the payments of a deposit.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
#[utoipa::path(
    operation_id = "listCryptoDepositPayments",
    tag = "crypto",
    summary = "List the payments of a crypto deposit",
    description = "The payments whose coins have arrived, oldest first, at most 1,000. Payments that wait for a decision of an operator are included, for example coins of another currency, or a payment more than an hour after `expires_at`. The deposit is refreshed as by `GET /v1/crypto/deposits/{id}`. Scope: `crypto:read`.",
    params(Named<kind::CryptoDeposit>),
    responses(
        (status = 200, description = "The payments.", body = CryptoDepositPaymentList,
            example = json!(examples::crypto_deposit_payments())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/crypto/deposits/{id}/payments")]
pub async fn list_payments(
    call: Authorized<CryptoRead>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let listed = payments::list(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let (deposit, payments) = listed.map_err(super::fetch_error)?;
    Ok(reply::json(StatusCode::OK, &CryptoDepositPaymentList::of(&deposit, &payments)))
}

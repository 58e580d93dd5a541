//! `GET /v1/crypto/deposits/{id}/qr.png`.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::{HttpResponse, get};
use cais_domain::crypto::deposit::DepositState;
use cais_domain::ids::kind;
use cais_use_cases::crypto::deposits::fetch;

use crate::context::{Authorized, CryptoRead};
use crate::describe::failures::Errors;
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;

const PNG: HeaderValue = HeaderValue::from_static("image/png");

/// Returns the QR code of a deposit that waits for its payer.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`, `invalid_state`
/// unless the deposit is pending; an error of the store.
#[utoipa::path(
    operation_id = "getCryptoDepositQrCode",
    tag = "crypto",
    summary = "Fetch the QR code of a crypto deposit",
    description = "An image of `pay_uri` for wallets. Only a `pending` deposit has one, so that no payer scans a deposit that is over. The deposit is refreshed as by `GET /v1/crypto/deposits/{id}`. Scope: `crypto:read`.",
    params(Named<kind::CryptoDeposit>),
    responses(
        (status = 200, description = "The image, as `image/png`."),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[get("/crypto/deposits/{id}/qr.png")]
pub async fn get_qr_code(
    call: Authorized<CryptoRead>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let found = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let deposit = found.map_err(super::fetch_error)?;
    let (DepositState::Pending(_), Some(uri)) = (&deposit.state, deposit.pay_uri()) else {
        let status = deposit.state.status().as_str();
        return Err(ApiError::new(ErrorCode::InvalidState)
            .with_message(format!("The deposit is {status}. Only a pending deposit has a QR code.")));
    };
    let image = cais_qr_code::png_file(&uri);
    let image = image.ok_or_else(|| ApiError::internal("the address does not fit into a QR code".to_owned()))?;
    Ok(reply::bytes(StatusCode::OK, PNG, image))
}

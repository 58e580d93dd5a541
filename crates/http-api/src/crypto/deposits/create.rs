//! `POST /v1/crypto/deposits`.

use std::sync::Arc;

use actix_web::{HttpResponse, post};
use cais_domain::merchant::account::Feature;
use cais_use_cases::crypto::deposits::create::{self, CreateDeposit, DepositRefusal};

use super::request::NewCryptoDeposit;
use crate::context::{Authorized, CryptoWrite, run_detached};
use crate::crypto::creation_error;
use crate::describe::examples;
use crate::describe::failures::{Errors, OfCreation};
use crate::error::{ApiError, ErrorCode, code};
use crate::idempotency::KeyHeader;
use crate::input::{Creation, Json, NoQuery};
use crate::reply;
use crate::resources::crypto::CryptoDeposit;

/// Creates a deposit, or returns the stored response of the same `Idempotency-Key`.
///
/// # Errors
/// All errors of a creation, in the order that `docs/API.md` lists.
#[utoipa::path(
    operation_id = "createCryptoDeposit",
    tag = "crypto",
    summary = "Create a crypto deposit",
    description = "Returns an address for the payer. The rate is that of the quote; without a quote, the current rate. The rate holds for coins that arrive up to an hour after `expires_at`. The value of the coins that arrive is credited, less the fee. `resolution` shows whether these coins are more or fewer than requested, or late. An external_id that exists with the same amount and currency returns the original deposit with 200. Scope: `crypto:write`.",
    params(KeyHeader),
    request_body(content = NewCryptoDeposit,
        example = json!(examples::literal(r#"{"amount":250.00,"currency":"btc","description":"Order 1042","external_id":"deposit-1042"}"#))),
    responses(
        (status = 201, description = "The deposit was created.", body = CryptoDeposit,
            example = json!(examples::crypto_deposit())),
        (status = 200, description = "A deposit with this external_id, amount and currency existed.",
            body = CryptoDeposit, example = json!(examples::completed_crypto_deposit())),
        Errors<(
            OfCreation, code::KycNotApproved, code::FeatureDisabled, code::PostbackUrlNotRegistered,
            code::TransactionLimitExceeded,
            (code::UnsupportedCurrency, code::AmountBelowMinimum, code::QuoteExpired, code::NotFound),
        )>,
    ),
)]
#[post("/crypto/deposits")]
pub async fn create_deposit(
    call: Authorized<CryptoWrite>,
    new: Creation<(NoQuery, Json<NewCryptoDeposit>)>,
) -> Result<HttpResponse, ApiError> {
    let (_, Json(deposit)) = new.input;
    let account = call.caller.account.clone();
    // A stored response always belongs to a supported currency. So an unsupported currency is rejected before the Idempotency-Key is looked
    // up. In this case, an error of the account precedes the error of the currency. With a supported currency, the account is checked after
    // the look-up, because a repeat must get its stored response even if the account has changed.
    let currency = deposit
        .currency
        .clone()
        .or_else(|error| account.permit(Feature::CryptoIn).map_err(ApiError::from).and(Err(error.into())))?;
    let command = CreateDeposit {
        account,
        request: call.context.id,
        key: new.key,
        fingerprint: new.fingerprint,
        terms: deposit.terms(currency),
    };
    let state = Arc::clone(&call.state);
    let response = run_detached(async move { create::create(&state.ports, command).await }).await?;
    Ok(reply::stored(response.map_err(|error| creation_error(&call.state, error))?))
}

impl From<DepositRefusal> for ApiError {
    fn from(refusal: DepositRefusal) -> Self {
        match refusal {
            DepositRefusal::PostbackUrlNotRegistered => Self::new(ErrorCode::PostbackUrlNotRegistered),
            DepositRefusal::Price(refusal) => refusal.into(),
        }
    }
}

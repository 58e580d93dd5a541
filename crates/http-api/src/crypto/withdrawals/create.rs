//! `POST /v1/crypto/withdrawals`.

use std::sync::Arc;

use actix_web::{HttpResponse, post};
use cais_domain::crypto::Address;
use cais_domain::merchant::account::Feature;
use cais_use_cases::crypto::withdrawals::create::{self, CreateWithdrawal, WithdrawalRefusal};

use super::request::NewCryptoWithdrawal;
use crate::context::{Authorized, CryptoWrite, run_detached};
use crate::crypto::creation_error;
use crate::describe::examples;
use crate::describe::failures::{Errors, OfCreation};
use crate::error::{ApiError, ErrorCode, code};
use crate::idempotency::KeyHeader;
use crate::input::{Creation, Json, NoQuery};
use crate::reply;
use crate::resources::crypto::CryptoWithdrawal;

/// Creates a withdrawal, or returns the stored response of the same `Idempotency-Key`. A rejection for insufficient balance is stored too.
///
/// # Errors
/// All errors of a creation, in the order that `docs/API.md` lists.
#[utoipa::path(
    operation_id = "createCryptoWithdrawal",
    tag = "crypto",
    summary = "Create a crypto withdrawal",
    description = "The amount is converted at the rate of the quote; without a quote, at the current rate. Amount and fee are held first; if the withdrawal fails, both are available again. A repeated Idempotency-Key returns the first response, `insufficient_balance` included, with the header `idempotent-replayed: true`. An external_id that exists with the same amount, currency and address returns the original withdrawal with 200. Scope: `crypto:write`.",
    params(KeyHeader),
    request_body(content = NewCryptoWithdrawal,
        example = json!(examples::literal(r#"{"amount":500.00,"currency":"btc","address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4","external_id":"withdrawal-7"}"#))),
    responses(
        (status = 201, description = "The withdrawal was created.", body = CryptoWithdrawal,
            example = json!(examples::crypto_withdrawal())),
        (status = 200, description = "A withdrawal with this external_id, amount, currency and address existed.",
            body = CryptoWithdrawal, example = json!(examples::completed_crypto_withdrawal())),
        Errors<(
            OfCreation, code::KycNotApproved, code::FeatureDisabled, code::TransactionLimitExceeded,
            code::InsufficientBalance,
            (code::UnsupportedCurrency, code::InvalidAddress, code::AmountBelowMinimum, code::QuoteExpired, code::NotFound),
        )>,
    ),
)]
#[post("/crypto/withdrawals")]
pub async fn create_withdrawal(
    call: Authorized<CryptoWrite>,
    new: Creation<(NoQuery, Json<NewCryptoWithdrawal>)>,
) -> Result<HttpResponse, ApiError> {
    let (_, Json(withdrawal)) = new.input;
    let account = call.caller.account.clone();
    // A stored response always belongs to a valid currency and address. So an invalid value is rejected before the
    // Idempotency-Key is looked up. In this case, an error of the account precedes the error of the value. With valid
    // values, the account is checked after the look-up, because a repeat must get its stored response even if the
    // account has changed.
    let address = withdrawal
        .recipient()
        .or_else(|error| account.permit(Feature::CryptoOut).map_err(ApiError::from).and(Err(error)))?;
    let command = CreateWithdrawal {
        account,
        request: call.context.id,
        key: new.key,
        fingerprint: new.fingerprint,
        terms: withdrawal.terms(address),
    };
    let state = Arc::clone(&call.state);
    let response = run_detached(async move { create::create(&state.ports, command).await }).await?;
    Ok(reply::stored(response.map_err(|error| creation_error(&call.state, error))?))
}

impl NewCryptoWithdrawal {
    /// Returns the recipient's address.
    fn recipient(&self) -> Result<Address, ApiError> {
        let currency = self.currency.clone()?;
        Address::parse(currency, &self.address)
            .map_err(|error| ApiError::new(ErrorCode::InvalidAddress).with_message(format!("The address {error}.")))
    }
}

impl From<WithdrawalRefusal> for ApiError {
    fn from(refusal: WithdrawalRefusal) -> Self {
        match refusal {
            WithdrawalRefusal::Price(refusal) => refusal.into(),
            WithdrawalRefusal::InvalidAddress => {
                Self::new(ErrorCode::InvalidAddress).with_message("The crypto processor cannot send to the address.")
            }
        }
    }
}

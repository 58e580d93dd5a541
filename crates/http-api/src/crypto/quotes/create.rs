//! `POST /v1/crypto/quotes`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::crypto::Side;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::merchant::account::Feature;
use cais_use_cases::crypto::quotes;

use super::request::NewCryptoQuote;
use crate::context::{Authorized, CryptoWrite, run_detached};
use crate::crypto::sources;
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, code};
use crate::input::{Input, Json, NoQuery};
use crate::reply;
use crate::resources::crypto_quote::CryptoQuote;

/// Creates a quote.
///
/// # Errors
/// The first failed check. The order of the checks is: body, account, currency, limits, prices.
#[utoipa::path(
    operation_id = "createCryptoQuote",
    tag = "crypto",
    summary = "Create a crypto quote",
    description = "The price holds for 60 seconds, for one deposit or withdrawal with the same currency and amount. Scope: `crypto:write`.",
    request_body(content = NewCryptoQuote,
        example = json!(examples::literal(r#"{"side":"deposit","currency":"btc","amount":250.00}"#))),
    responses(
        (status = 201, description = "The quote.", body = CryptoQuote, example = json!(examples::crypto_quote())),
        Errors<(
            OfBody, code::AccountSuspended, code::KycNotApproved, code::FeatureDisabled, code::UnsupportedCurrency,
            code::TransactionLimitExceeded, code::AmountBelowMinimum,
        )>,
    ),
)]
#[post("/crypto/quotes")]
pub async fn create_quote(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Json<NewCryptoQuote>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Json(NewCryptoQuote { side, currency, amount }))) = input;
    let feature = match side {
        Side::Deposit => Feature::CryptoIn,
        Side::Withdrawal => Feature::CryptoOut,
    };
    call.caller.account.permit(feature)?;
    let sources = sources(&call.state)?.clone();
    let terms = QuotedTerms { side, currency: currency?, amount: amount.0 };
    let (state, account) = (Arc::clone(&call.state), call.caller.account.clone());
    let quote = run_detached(async move { quotes::create(&state.ports, &sources, &account, terms).await }).await??;
    Ok(reply::json(StatusCode::CREATED, &CryptoQuote::from(&quote)))
}

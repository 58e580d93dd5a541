//! `/v1/crypto/…`.

pub mod currencies;
pub mod deposits;
pub mod quotes;
pub mod withdrawals;

use cais_domain::crypto::quote::UseQuoteError;
use cais_domain::crypto::{Currency, UnsupportedCurrency};
use cais_domain::ids::CryptoQuoteId;
use cais_strict_json::{Issue, Node, Problem};
use cais_use_cases::crypto::quotes::{PriceRefusal, QuoteRefusal};
use cais_use_cases::crypto::{CryptoSources, CryptoUnavailable};
use cais_use_cases::upstream_order::CreateError;

use super::error::{ACQUIRER_RETRY_AFTER_S, ApiError, ErrorCode};
use super::rules;
use super::state::AppState;

/// The longest code of a currency, supported or not, in characters.
pub const MAX_CODE: usize = 20;

/// The longest description, in characters.
pub const MAX_DESCRIPTION: usize = 140;

/// Returns the crypto processor, the source of the dollar's rate, and the spread.
///
/// # Errors
/// `feature_disabled` if no crypto processor is configured.
pub fn sources(state: &AppState) -> Result<&CryptoSources, ApiError> {
    state.ports.crypto.as_ref().ok_or_else(|| {
        ApiError::new(ErrorCode::FeatureDisabled)
            .with_message("Crypto is not available: no crypto processor is configured.")
    })
}

/// Returns the error of a failed creation. Without a configured processor, `acquirer_unavailable` becomes `feature_disabled`.
/// The processor is not checked before the creation, because a repeat must get its stored response even without a processor.
pub fn creation_error<R: Into<ApiError>>(state: &AppState, error: CreateError<R>) -> ApiError {
    match (error, sources(state)) {
        (CreateError::AcquirerUnavailable, Err(disabled)) => disabled,
        (error, _) => error.into(),
    }
}

/// The code of a currency in a body. An unsupported code is kept as a value, because its error is `unsupported_currency`, not
/// `VALIDATION_ERROR`.
pub type Code = Result<Currency, UnsupportedCurrency>;

/// Reads the code of a currency.
///
/// # Errors
/// The value is not a string, or too long for a code.
pub fn code(node: &Node<'_>) -> Result<Code, Problem> {
    let text = rules::string(node)?;
    if text.chars().nth(MAX_CODE).is_some() {
        return Err(format!("must have at most {MAX_CODE} characters").into());
    }
    Ok(Currency::parse(text))
}

/// Reads the id of a quote.
///
/// # Errors
/// The value is not the id of a quote.
pub fn quote_id(node: &Node<'_>) -> Result<CryptoQuoteId, Problem> {
    CryptoQuoteId::parse(rules::string(node)?).map_err(|error| error.to_string().into())
}

impl From<UnsupportedCurrency> for ApiError {
    fn from(error: UnsupportedCurrency) -> Self {
        Self::new(ErrorCode::UnsupportedCurrency).with_message(format!("The currency {error}."))
    }
}

impl From<CryptoUnavailable> for ApiError {
    fn from(error: CryptoUnavailable) -> Self {
        match error {
            CryptoUnavailable::Store(error) => error.into(),
            CryptoUnavailable::Upstream(_)
            | CryptoUnavailable::Rate(_)
            | CryptoUnavailable::Jump { .. }
            | CryptoUnavailable::OutOfRange(_) => Self::new(ErrorCode::ServiceUnavailable)
                .with_message("Crypto prices are temporarily unavailable.")
                .retry_after(ACQUIRER_RETRY_AFTER_S)
                .with_cause(error.to_string()),
        }
    }
}

impl From<QuoteRefusal> for ApiError {
    fn from(refusal: QuoteRefusal) -> Self {
        match refusal {
            QuoteRefusal::NotPermitted(reason) => reason.into(),
            QuoteRefusal::Price(refusal) => refusal.into(),
        }
    }
}

impl From<PriceRefusal> for ApiError {
    fn from(refusal: PriceRefusal) -> Self {
        match refusal {
            PriceRefusal::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .with_message(format!("The amount exceeds the account's limit of {limit}.")),
            PriceRefusal::QuoteNotFound => {
                Self::new(ErrorCode::NotFound).with_message("The crypto quote does not exist.")
            }
            PriceRefusal::Quote(UseQuoteError::Expired) => Self::new(ErrorCode::QuoteExpired),
            PriceRefusal::Quote(UseQuoteError::OtherTerms) => {
                Self::invalid(vec![Issue::new("quote_id", "must have the side, currency and amount of this request")])
            }
            PriceRefusal::BelowMinimum { coins, brl } => {
                let currency = coins.currency();
                Self::new(ErrorCode::AmountBelowMinimum).with_message(format!(
                    "The amount is below the current minimum of {coins} {currency}, which is {brl} BRL."
                ))
            }
            PriceRefusal::NoPrice(error) => error.into(),
        }
    }
}

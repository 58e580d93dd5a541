//! The pages of crypto: currencies, deposits, withdrawals.

pub(crate) mod currencies;
pub(crate) mod deposits;
pub(crate) mod list;
pub(crate) mod withdrawals;

use cais_domain::crypto::Currency;
use cais_domain::external_id::ExternalId;
use cais_domain::merchant::account::NotPermitted;
use cais_domain::text::{LineBreaks, Text};
use cais_use_cases::crypto::deposits::create::{CreateDepositError, DepositRefusal};
use cais_use_cases::crypto::quotes::{PriceRefusal, QuoteRefusal};
use cais_use_cases::crypto::withdrawals::create::{CreateWithdrawalError, WithdrawalRefusal};
use cais_use_cases::upstream_order::CreateError;

use crate::failure::Failure;
use crate::form::Form;
use crate::format::brl;
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;

/// The longest description, in characters, as in the API.
const MAX_DESCRIPTION: usize = 140;

/// A currency in a form.
struct CurrencyChoice {
    code: &'static str,
    network: &'static str,
    is_chosen: bool,
}

/// Returns all currencies for a form. `chosen` is the code of the selected currency, or empty.
fn choices(chosen: &str) -> Vec<CurrencyChoice> {
    let choice = |currency: Currency| CurrencyChoice {
        code: currency.code(),
        network: currency.network(),
        is_chosen: currency.code() == chosen,
    };
    Currency::ALL.map(choice).into()
}

/// Reads the description and the external id of a form. The error is the message about the form's first mistake.
fn free_texts(form: &Form, t: &CryptoTexts) -> Result<(Option<Text>, Option<ExternalId>), &'static str> {
    let description = match form.get("description") {
        "" => None,
        text => Some(Text::parse(text, MAX_DESCRIPTION, LineBreaks::Refused).map_err(|_| t.description_wrong)?),
    };
    let external_id = match form.get("external_id") {
        "" => None,
        text => Some(ExternalId::parse(text).map_err(|_| t.external_id_wrong)?),
    };
    Ok((description, external_id))
}

fn not_permitted(reason: NotPermitted, t: &CryptoTexts) -> String {
    match reason {
        NotPermitted::Suspended => t.suspended,
        NotPermitted::KycNotApproved => t.kyc,
        NotPermitted::FeatureDisabled(_) => t.feature,
    }
    .to_owned()
}

/// Returns the text that explains to the user why no quote was created.
fn quote_refusal(refusal: &QuoteRefusal, language: Language) -> String {
    match refusal {
        QuoteRefusal::NotPermitted(reason) => not_permitted(*reason, CryptoTexts::of(language)),
        QuoteRefusal::Price(refusal) => price_refusal(refusal, language),
    }
}

fn price_refusal(refusal: &PriceRefusal, language: Language) -> String {
    let t = CryptoTexts::of(language);
    match refusal {
        PriceRefusal::TransactionLimit { limit } => format!("{} {}.", t.limit, brl(*limit, language)),
        PriceRefusal::BelowMinimum { coins, brl: worth } => {
            format!("{} {coins} {} ({}).", t.minimum, coins.currency(), brl(*worth, language))
        }
        PriceRefusal::QuoteNotFound | PriceRefusal::Quote(_) => t.quote_over.to_owned(),
        PriceRefusal::NoPrice(_) => t.no_prices.to_owned(),
    }
}

/// Returns the text that explains to the user why no deposit was created.
///
/// # Errors
/// [`Failure::Unavailable`] for a failure of the service itself. [`Failure::NotFound`] for a refused postback URL.
/// The second error cannot happen, because the dashboard sends no such URL.
fn deposit_refusal(error: &CreateDepositError, language: Language) -> Result<String, Failure> {
    let CreateError::Refused(refusal) = error else { return common_refusal(error, CryptoTexts::of(language)) };
    match refusal {
        DepositRefusal::Price(refusal) => Ok(price_refusal(refusal, language)),
        DepositRefusal::PostbackUrlNotRegistered => Err(Failure::NotFound),
    }
}

/// Returns the text that explains to the user why no withdrawal was created.
///
/// # Errors
/// [`Failure::Unavailable`] for a failure of the service itself.
fn withdrawal_refusal(error: &CreateWithdrawalError, language: Language) -> Result<String, Failure> {
    let t = CryptoTexts::of(language);
    let CreateError::Refused(refusal) = error else { return common_refusal(error, t) };
    Ok(match refusal {
        WithdrawalRefusal::Price(refusal) => price_refusal(refusal, language),
        WithdrawalRefusal::InvalidAddress => t.address_wrong.to_owned(),
    })
}

/// Returns the text that explains to the user an error that can occur for deposits and for withdrawals.
fn common_refusal<R: std::error::Error>(error: &CreateError<R>, t: &CryptoTexts) -> Result<String, Failure> {
    Ok(match error {
        CreateError::NotPermitted(reason) => not_permitted(*reason, t),
        CreateError::ExternalIdConflict(_) => t.external_id_taken.to_owned(),
        CreateError::KeyConflict => t.quote_over.to_owned(),
        CreateError::ExternalIdInProgress { .. }
        | CreateError::KeyInProgress { .. }
        | CreateError::Unavailable { .. } => t.in_progress.to_owned(),
        CreateError::AcquirerUnavailable => t.no_processor.to_owned(),
        CreateError::Refused(_) | CreateError::Internal(_) => return Err(Failure::Unavailable(error.to_string())),
    })
}

//! The pages of payouts.

pub(crate) mod confirm;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod show;

use cais_domain::merchant::account::NotPermitted;
use cais_use_cases::payouts::create::{CreatePayoutError, PayoutRefusal};
use cais_use_cases::upstream_order::CreateError;

use crate::failure::Failure;
use crate::format::brl;
use crate::texts::Language;
use crate::texts::payouts::PayoutTexts;

/// Returns the text for the user about a payout that was not sent.
///
/// # Errors
/// [`Failure::Unavailable`] for a failure of the service itself.
fn refusal(error: &CreatePayoutError, language: Language) -> Result<String, Failure> {
    let t = PayoutTexts::of(language);
    Ok(match error {
        CreateError::NotPermitted(NotPermitted::Suspended) => t.suspended.to_owned(),
        CreateError::NotPermitted(NotPermitted::KycNotApproved) => t.kyc.to_owned(),
        CreateError::NotPermitted(NotPermitted::FeatureDisabled(_)) => t.feature.to_owned(),
        CreateError::Refused(PayoutRefusal::TransactionLimit { limit }) => {
            format!("{} {}.", t.limit, brl(*limit, language))
        }
        CreateError::ExternalIdConflict(_) => t.external_id_taken.to_owned(),
        CreateError::ExternalIdInProgress { .. }
        | CreateError::KeyInProgress { .. }
        | CreateError::Unavailable { .. } => t.in_progress.to_owned(),
        CreateError::AcquirerUnavailable => t.no_acquirer.to_owned(),
        CreateError::KeyConflict | CreateError::Internal(_) => return Err(Failure::Unavailable(error.to_string())),
    })
}

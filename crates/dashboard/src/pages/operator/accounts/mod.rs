//! Accounts: the list with the KYC queue, one account, and its changes.

pub(crate) mod change;
pub(crate) mod list;
mod shares;
pub(crate) mod show;
pub(crate) mod terms;

use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{Account, AccountStatus, Features, Kyc};

use crate::failure::Failure;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::operator::OperatorTexts;
use crate::texts::settings::SettingsTexts;

/// Returns the account with the id in a path, if the user is an operator.
async fn find(context: &PageContext, id: &str) -> Result<Account, Failure> {
    context.operator()?;
    let id = AccountId::parse(id).map_err(|_| Failure::NotFound)?;
    context.ports().queries.find_account(id).await?.ok_or(Failure::NotFound)
}

/// Returns the names of the features.
fn features(features: Features, language: Language) -> String {
    features.iter().map(|one| SettingsTexts::of(language).feature(one)).collect::<Vec<_>>().join(", ")
}

const fn kyc(kyc: Kyc, t: &'static OperatorTexts) -> &'static str {
    match kyc {
        Kyc::Pending => t.kyc_pending,
        Kyc::Approved => t.kyc_approved,
        Kyc::Rejected => t.kyc_rejected,
    }
}

const fn status(status: AccountStatus, t: &'static OperatorTexts) -> &'static str {
    match status {
        AccountStatus::Active => t.active,
        AccountStatus::Suspended => t.suspended,
    }
}

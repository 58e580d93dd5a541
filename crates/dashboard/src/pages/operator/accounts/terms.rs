//! The values of a change as the confirmation shows them.

use cais_domain::fee::FeeRule;
use cais_domain::merchant::account_change::AccountChange;
use cais_domain::money::Money;

use crate::format::{brl, percent};
use crate::texts::Language;
use crate::texts::operator::OperatorTexts;
use crate::texts::settings::SettingsTexts;

/// The amount of the worked example of a fee: R$ 100.00.
const EXAMPLE: Money = Money::from_centavos(10_000);

/// Returns the title of the page that confirms the change.
pub(crate) const fn title(change: &AccountChange, language: Language) -> &'static str {
    let t = OperatorTexts::of(language);
    match change {
        AccountChange::Approve => t.approve,
        AccountChange::Reject => t.reject,
        AccountChange::Suspend => t.suspend,
        AccountChange::Resume => t.resume,
        AccountChange::Features(_) => t.set_features,
        AccountChange::Fees(..) => t.set_fees,
        AccountChange::Limits(_) => t.set_limits,
        AccountChange::ReleaseDelay(_) => t.set_release_delay,
    }
}

/// Returns the labels and values that the page shows for the change. A change without values returns an empty list.
pub(crate) fn details(change: &AccountChange, language: Language) -> Vec<(&'static str, String)> {
    let (t, money) = (OperatorTexts::of(language), |amount| brl(amount, language));
    match change {
        AccountChange::Approve | AccountChange::Reject | AccountChange::Suspend | AccountChange::Resume => Vec::new(),
        AccountChange::Features(features) => {
            let names = super::features(*features, language);
            vec![(t.features, if names.is_empty() { t.none.to_owned() } else { names })]
        }
        AccountChange::Fees(operation, rule) => {
            let rate = format!("{} + {}", money(rule.fixed()), percent(rule.percentage(), language));
            let mut rows =
                vec![(t.operation, SettingsTexts::of(language).operation_of(*operation).to_owned()), (t.fee, rate)];
            rows.extend(rule.min().map(|min| (t.fee_min, money(min))));
            rows.extend(rule.max().map(|max| (t.fee_max, money(max))));
            rows.push((t.example, example(rule, language)));
            rows
        }
        AccountChange::Limits(limits) => {
            vec![(t.charge_limit, money(limits.charge)), (t.payout_limit, money(limits.payout))]
        }
        AccountChange::ReleaseDelay(seconds) => vec![(t.release_delay, seconds.to_string())],
    }
}

/// Returns the fee of a transaction of R$ 100.00; a dash if it cannot be computed.
pub(super) fn example(rule: &FeeRule, language: Language) -> String {
    rule.fee(EXAMPLE).map_or_else(|_| "–".to_owned(), |fee| brl(fee, language))
}

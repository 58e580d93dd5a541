//! An operator's change of an account, as a value. The dashboard displays this value, stores it until the operator
//! confirms the change, and then applies it.

use super::account::{Account, AccountStatus, Features, Limits};
use crate::fee::{FeeRule, Operation};
use crate::money::Money;
use crate::rate::Percentage;

/// The longest release delay that an operator can set, in seconds: 90 days.
pub const MAX_RELEASE_DELAY_S: u32 = 90 * 24 * 3_600;

/// A change of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    /// Approves KYC, which enables `pix_in` and `pix_out`.
    Approve,
    /// Rejects KYC.
    Reject,
    /// Suspends the account.
    Suspend,
    /// Ends the suspension.
    Resume,
    /// Enables exactly these features, and disables all others.
    Features(Features),
    /// Replaces the fee rule of one kind of operation.
    Fees(Operation, FeeRule),
    /// Sets the largest amounts of single operations.
    Limits(Limits),
    /// Sets the release delay: the seconds for which received money stays in `pending`.
    ReleaseDelay(u32),
}

impl AccountChange {
    /// Returns the name of the change. The audit log uses the same name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approve => "account.approve",
            Self::Reject => "account.reject",
            Self::Suspend => "account.suspend",
            Self::Resume => "account.resume",
            Self::Features(_) => "account.features",
            Self::Fees(..) => "account.fees",
            Self::Limits(_) => "account.limits",
            Self::ReleaseDelay(_) => "account.release_delay",
        }
    }

    /// Returns the account after the change.
    #[must_use]
    pub fn apply(&self, account: Account) -> Account {
        match self {
            Self::Approve => account.approve(),
            Self::Reject => account.reject(),
            Self::Suspend => Account { status: AccountStatus::Suspended, ..account },
            Self::Resume => Account { status: AccountStatus::Active, ..account },
            Self::Features(features) => Account { features: *features, ..account },
            Self::Fees(operation, rule) => {
                Account { fees: account.fees.clone().with(*operation, rule.clone()), ..account }
            }
            Self::Limits(limits) => Account { limits: *limits, ..account },
            Self::ReleaseDelay(seconds) => Account { release_delay_s: *seconds, ..account },
        }
    }

    /// Returns the values of the change in one line, for [`AccountChange::parse`]. The line is empty if the change has
    /// no values.
    #[must_use]
    pub fn terms(&self) -> String {
        let or_none = |money: Option<Money>| money.map_or_else(|| "-".to_owned(), |money| money.to_string());
        match self {
            Self::Approve | Self::Reject | Self::Suspend | Self::Resume => String::new(),
            Self::Features(features) => features.to_string(),
            Self::Fees(operation, rule) => {
                let (fixed, percentage) = (rule.fixed(), rule.percentage());
                format!("{operation} {fixed} {percentage} {} {}", or_none(rule.min()), or_none(rule.max()))
            }
            Self::Limits(limits) => format!("{} {}", limits.charge, limits.payout),
            Self::ReleaseDelay(seconds) => seconds.to_string(),
        }
    }

    /// Returns the change with this name and these values. Returns `None` if the name is unknown or a value is invalid.
    #[must_use]
    pub fn parse(name: &str, terms: &str) -> Option<Self> {
        let words: Vec<&str> = terms.split_whitespace().collect();
        match (name, words.as_slice()) {
            ("account.approve", []) => Some(Self::Approve),
            ("account.reject", []) => Some(Self::Reject),
            ("account.suspend", []) => Some(Self::Suspend),
            ("account.resume", []) => Some(Self::Resume),
            ("account.features", _) => Features::parse(terms).ok().map(Self::Features),
            ("account.fees", [operation, fixed, percentage, min, max]) => {
                let bound = |text: &str| if text == "-" { Some(None) } else { Money::parse(text).ok().map(Some) };
                let (fixed, percentage) = (Money::parse(fixed).ok()?, Percentage::parse(percentage).ok()?);
                let rule = FeeRule::try_new(fixed, percentage, bound(min)?, bound(max)?).ok()?;
                Some(Self::Fees(Operation::parse(operation)?, rule))
            }
            ("account.limits", [charge, payout]) => {
                let limit = |text: &str| Money::parse(text).ok().filter(|money| money.is_positive());
                Some(Self::Limits(Limits { charge: limit(charge)?, payout: limit(payout)? }))
            }
            ("account.release_delay", [seconds]) => {
                seconds.parse().ok().filter(|seconds| *seconds <= MAX_RELEASE_DELAY_S).map(Self::ReleaseDelay)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn change_is_parsed_back_from_name_and_terms() {
        let money = Money::from_centavos;
        let rule = |min, max| FeeRule::try_new(money(50), Percentage::parse("0.99").unwrap(), min, max).unwrap();
        for change in [
            AccountChange::Approve,
            AccountChange::Reject,
            AccountChange::Suspend,
            AccountChange::Resume,
            AccountChange::Features(Features::default()),
            AccountChange::Features(Features::parse("pix_in,split").unwrap()),
            AccountChange::Fees(Operation::PixIn, rule(None, None)),
            AccountChange::Fees(Operation::CryptoOut, rule(Some(money(1)), Some(money(10_000)))),
            AccountChange::Limits(Limits { charge: money(1), payout: money(2_000_050) }),
            AccountChange::ReleaseDelay(0),
            AccountChange::ReleaseDelay(MAX_RELEASE_DELAY_S),
        ] {
            assert_eq!(AccountChange::parse(change.name(), &change.terms()), Some(change));
        }
    }

    #[test]
    fn invalid_terms_parse_to_none() {
        for (name, terms) in [
            ("account.approve", "x"),
            ("account.features", "gold"),
            ("account.fees", "pix_in 0.50 0.99 -"),
            ("account.fees", "gold 0.50 0.99 - -"),
            ("account.fees", "pix_in 0.50 0.99 2.00 1.00"),
            ("account.limits", "0.00 1.00"),
            ("account.release_delay", "7776001"),
            ("account.delete", ""),
        ] {
            assert_eq!(AccountChange::parse(name, terms), None, "{name} {terms}");
        }
    }
}

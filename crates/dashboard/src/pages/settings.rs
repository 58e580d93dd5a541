//! Shows the account: its data, permissions, fees and limits. Only an operator can change them.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::merchant::account::{AccountStatus, Feature};

use crate::failure::Failure;
use crate::format::{When, brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::settings::SettingsTexts;

// The seconds of the units of a delay.
const DAY: u32 = 86_400;
const HOUR: u32 = 3_600;
const MINUTE: u32 = 60;

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    page: Layout,
    t: &'static SettingsTexts,
    id: String,
    name: String,
    email: String,
    document: String,
    created: When,
    status: &'static str,
    kyc: &'static str,
    features: Vec<(&'static str, bool)>,
    fees: Vec<(&'static str, String)>,
    charge_limit: String,
    payout_limit: String,
    release: String,
}

/// Shows the account.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let account = context.dashboard.logins.ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let (language, t) = (context.language, SettingsTexts::of(context.language));
    let shown = SettingsPage {
        page: context.layout(),
        t,
        id: account.id.to_string(),
        document: account.document.masked(),
        created: When::of(account.created_at, language),
        status: match account.status {
            AccountStatus::Active => t.active,
            AccountStatus::Suspended => t.suspended,
        },
        kyc: t.kyc_of(account.kyc),
        features: Feature::ALL.map(|feature| (t.feature(feature), account.features.contains(feature))).into(),
        fees: Operation::ALL.map(|each| (t.operation_of(each), fee(account.fees.get(each), language))).into(),
        charge_limit: brl(account.limits.charge, language),
        payout_limit: brl(account.limits.payout, language),
        release: delay(account.release_delay_s, t),
        name: account.name,
        email: account.email,
    };
    Ok(context.ok(&shown))
}

/// Returns a fee as a text, such as `R$ 0.50 + 0.99%, at least R$ 1.00`.
fn fee(rule: &FeeRule, language: Language) -> String {
    let t = SettingsTexts::of(language);
    let percentage = rule.percentage().to_string();
    let mut parts = Vec::new();
    if rule.fixed().is_positive() {
        parts.push(brl(rule.fixed(), language));
    }
    if percentage != "0" {
        parts.push(format!("{}%", decimal(&percentage, language)));
    }
    let mut text = parts.join(" + ");
    for (word, limit) in [(t.at_least, rule.min()), (t.at_most, rule.max())] {
        if let Some(limit) = limit {
            let comma = if text.is_empty() { "" } else { ", " };
            text = format!("{text}{comma}{word} {}", brl(limit, language));
        }
    }
    if text.is_empty() { t.free.to_owned() } else { text }
}

/// Returns a delay in its largest whole unit.
fn delay(seconds: u32, t: &SettingsTexts) -> String {
    let (count, unit) = match seconds {
        0 => return t.at_once.to_owned(),
        _ if seconds.is_multiple_of(DAY) => (seconds / DAY, t.days),
        _ if seconds.is_multiple_of(HOUR) => (seconds / HOUR, t.hours),
        _ if seconds.is_multiple_of(MINUTE) => (seconds / MINUTE, t.minutes),
        _ => (seconds, t.seconds),
    };
    format!("{} {count} {unit}", t.after)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::money::Money;
    use cais_domain::rate::Percentage;

    use super::*;

    #[test]
    fn fee_has_only_its_own_parts() {
        let money = Money::from_centavos;
        let rule = |fixed, percent, min: Option<i64>, max: Option<i64>| {
            let percent = Percentage::parse(percent).unwrap();
            fee(&FeeRule::try_new(money(fixed), percent, min.map(money), max.map(money)).unwrap(), Language::Portuguese)
        };
        assert_eq!(rule(0, "0", None, None), "sem tarifa");
        assert_eq!(rule(50, "0.99", None, None), "R$ 0,50 + 0,99%");
        assert_eq!(rule(0, "1", Some(100), Some(1_000)), "1%, no mínimo R$ 1,00, no máximo R$ 10,00");
    }

    #[test]
    fn delay_is_shown_in_its_largest_whole_unit() {
        let t = SettingsTexts::of(Language::English);
        for (seconds, text) in [
            (0, "at once"),
            (172_800, "after 2 day(s)"),
            (90_000, "after 25 hour(s)"),
            (120, "after 2 minute(s)"),
            (61, "after 61 second(s)"),
        ] {
            assert_eq!(delay(seconds, t), text);
        }
    }
}

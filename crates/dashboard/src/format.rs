//! Formats amounts, percentages, days and instants for pages.

use std::fmt;

use askama::filters::HtmlSafe;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::texts::Language;

/// The digits between two separators of thousands.
const GROUP: usize = 3;

/// An instant for a page: the time in São Paulo, and UTC for machines and as the tooltip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    /// The local time, to the minute.
    pub(crate) local: String,
    /// UTC (RFC 3339).
    pub(crate) utc: String,
}

impl When {
    /// Returns the texts of an instant.
    pub(crate) fn of(at: Timestamp, language: Language) -> Self {
        let zone = TimeZone::get("America/Sao_Paulo").unwrap_or(TimeZone::UTC);
        let pattern = match language {
            Language::Portuguese => "%d/%m/%Y %H:%M",
            Language::English => "%Y-%m-%d %H:%M",
        };
        Self { local: at.to_zoned(zone).strftime(pattern).to_string(), utc: format!("{at:.0}") }
    }
}

/// Writes the element `time`. `local` and `utc` contain no character that HTML must escape.
impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { local, utc } = self;
        write!(formatter, "<time datetime=\"{utc}\" title=\"{utc}\">{local}</time>")
    }
}

impl HtmlSafe for When {}

/// Returns a text with a capital letter at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns a day: `31/01/2026` or `2026-01-31`.
pub(crate) fn day(day: Date, language: Language) -> String {
    let pattern = match language {
        Language::Portuguese => "%d/%m/%Y",
        Language::English => "%Y-%m-%d",
    };
    day.strftime(pattern).to_string()
}

/// Returns a decimal such as `1344.5` with the language's separators: `1.344,5` or `1,344.5`.
pub(crate) fn decimal(text: &str, language: Language) -> String {
    let (thousands, point) = match language {
        Language::Portuguese => ('.', ','),
        Language::English => (',', '.'),
    };
    let (sign, plain) = text.strip_prefix('-').map_or(("", text), |plain| ("-", plain));
    let (whole, fraction) = plain.split_once('.').map_or((plain, None), |(whole, rest)| (whole, Some(rest)));
    let mut written = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && whole.len().saturating_sub(place).is_multiple_of(GROUP) {
            written.push(thousands);
        }
        written.push(digit);
    }
    if let Some(fraction) = fraction {
        written.push(point);
        written.push_str(fraction);
    }
    written
}

/// Returns an amount in BRL: `R$ 1.234,56` or `R$ 1,234.56`.
pub(crate) fn brl(amount: Money, language: Language) -> String {
    let text = amount.to_string();
    let (sign, plain) = text.strip_prefix('-').map_or(("", text.as_str()), |plain| ("-", plain));
    format!("{sign}R$ {}", decimal(plain, language))
}

/// Returns a percentage: `0,99 %` or `0.99 %`.
pub(crate) fn percent(percentage: &Percentage, language: Language) -> String {
    format!("{} %", decimal(&percentage.to_string(), language))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn amounts_have_the_separators_of_the_language() {
        for (centavos, portuguese, english) in [
            (0, "R$ 0,00", "R$ 0.00"),
            (99_999, "R$ 999,99", "R$ 999.99"),
            (123_456_789, "R$ 1.234.567,89", "R$ 1,234,567.89"),
            (-100_000, "-R$ 1.000,00", "-R$ 1,000.00"),
        ] {
            let amount = Money::from_centavos(centavos);
            assert_eq!(brl(amount, Language::Portuguese), portuguese);
            assert_eq!(brl(amount, Language::English), english);
        }
    }

    #[test]
    fn decimals_have_the_separators_of_the_language() {
        for (text, portuguese, english) in [
            ("20", "20", "20"),
            ("0.00143055", "0,00143055", "0.00143055"),
            ("349517.025", "349.517,025", "349,517.025"),
            ("-1000000.5", "-1.000.000,5", "-1,000,000.5"),
        ] {
            assert_eq!(decimal(text, Language::Portuguese), portuguese);
            assert_eq!(decimal(text, Language::English), english);
        }
    }

    #[test]
    fn instants_are_shown_in_sao_paulo_with_utc() {
        let at: Timestamp = "2026-01-02T01:30:00Z".parse().unwrap();
        let shown = When::of(at, Language::Portuguese);
        assert_eq!((shown.local.as_str(), shown.utc.as_str()), ("01/01/2026 22:30", "2026-01-02T01:30:00Z"));
        assert_eq!(When::of(at, Language::English).local, "2026-01-01 22:30");
    }
}

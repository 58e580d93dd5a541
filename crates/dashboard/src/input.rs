//! Parses the amounts that people type into forms.

use cais_domain::money::Money;

/// The number of digits between two separators of thousands.
const GROUP: usize = 3;
/// The most digits after the decimal separator.
const MAX_DECIMALS: usize = 2;

/// Parses an amount in reais: `1234,56`, `1234.56`, `1.234,56` and `1,234.56` are the same amount.
///
/// Returns `None` for a malformed text. Also returns `None` for a text such as `1.234`, because the point may separate
/// thousands or decimals.
pub(crate) fn amount(text: &str) -> Option<Money> {
    let text = text.trim().strip_prefix("R$").unwrap_or(text).trim();
    let Some((whole, decimals)) = text.rsplit_once([',', '.']) else { return parse(text, "0") };
    let is_short = !decimals.is_empty() && decimals.len() <= MAX_DECIMALS;
    // The separator of thousands is the one that does not separate the decimals.
    let thousands = if text.get(whole.len()..)?.starts_with(',') { '.' } else { ',' };
    let (first, others) = whole.split_once(thousands).map_or((whole, None), |(first, rest)| (first, Some(rest)));
    let is_grouped = others.is_none_or(|rest| {
        first.len() <= GROUP && !first.is_empty() && rest.split(thousands).all(|group| group.len() == GROUP)
    });
    if is_short && is_grouped { parse(&whole.replace(thousands, ""), decimals) } else { None }
}

fn parse(whole: &str, decimals: &str) -> Option<Money> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits(whole) && is_digits(decimals) { Money::parse(&format!("{whole}.{decimals}")).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_has_the_separators_of_either_language() {
        for (text, centavos) in [
            ("1234,56", 123_456),
            ("1234.56", 123_456),
            ("1.234,56", 123_456),
            ("1,234.56", 123_456),
            ("R$ 1.234.567,89", 123_456_789),
            (" 10 ", 1_000),
            ("10,5", 1_050),
            ("0.01", 1),
        ] {
            assert_eq!(amount(text), Some(Money::from_centavos(centavos)), "{text}");
        }
    }

    #[test]
    fn ambiguous_or_malformed_amount_is_refused() {
        for text in [
            "",
            "R$",
            ",",
            ".5",
            "5.",
            "1.234",
            "1,234",
            "1.234.567",
            "1.2,34",
            "12,34.56",
            "1..234,00",
            ".234,00",
            "1234.567,00",
            "1e3",
            "-5",
            "+5",
            "10,555",
            "10,5,5",
            "１０",
            "10 00",
            "ten",
            "0x10",
            "9999999999999",
        ] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}

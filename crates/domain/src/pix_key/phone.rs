//! A telephone number as a Pix key, in E.164.

use super::{PixKeyError, hint};

/// The permitted number of digits, including the country code (E.164).
const DIGITS: std::ops::RangeInclusive<usize> = 2..=15;

/// The country code of Brazil.
const BRAZIL: &str = "55";

/// A phone key: `+`, then 2 to 15 digits of which the first is not 0. A Brazilian number also needs an area code in use
/// and the full number of digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhoneKey(String);

impl PhoneKey {
    /// Parses a number that starts with `+`. Blanks, dots, dashes and brackets are removed.
    ///
    /// # Errors
    /// [`PixKeyError::Phone`].
    pub fn parse(text: &str) -> Result<Self, PixKeyError> {
        let bare: String = text.chars().filter(|character| !matches!(character, ' ' | '.' | '-' | '(' | ')')).collect();
        let digits = bare.strip_prefix('+').ok_or(PixKeyError::Phone)?;
        let valid = DIGITS.contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.strip_prefix(BRAZIL).is_none_or(hint::is_brazilian);
        if valid { Ok(Self(bare)) } else { Err(PixKeyError::Phone) }
    }

    /// Returns the number with its `+`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

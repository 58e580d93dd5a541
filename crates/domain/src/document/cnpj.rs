//! The tax number of a company: twelve digits or letters, and two check digits. The rule IN RFB 2229/2024 of the tax
//! authority permits letters from July 2026.

use super::{DocumentError, all_equal, bare, check_digit, fill};

/// The number of characters in a CNPJ without punctuation.
pub(super) const LENGTH: usize = 14;
/// The number of characters before the check digits.
const BODY: usize = 12;
/// The weights of the first check digit.
const FIRST: [u32; 12] = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
/// The weights of the second check digit.
const SECOND: [u32; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/// A valid CNPJ, numeric or alphanumeric, stored as 14 digits and upper-case letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cnpj(String);

impl Cnpj {
    /// Parses a CNPJ with or without punctuation, in upper or lower case.
    ///
    /// # Errors
    /// [`DocumentError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let characters = bare(text);
        if characters.chars().count() != LENGTH {
            return Err(DocumentError::WrongLength);
        }
        let alphabet = characters.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if !alphabet || !characters.bytes().skip(BODY).all(|byte| byte.is_ascii_digit()) {
            return Err(DocumentError::WrongCharacter);
        }
        if all_equal(&characters) {
            return Err(DocumentError::AllEqual);
        }
        let first = check_digit(characters.bytes().take(BODY), &FIRST);
        let second = check_digit(characters.bytes().take(BODY.saturating_add(1)), &SECOND);
        if characters.chars().skip(BODY).eq([first, second]) {
            Ok(Self(characters))
        } else {
            Err(DocumentError::WrongCheckDigits)
        }
    }

    /// Returns the 14 characters without punctuation.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the CNPJ with punctuation, as in `12.ABC.345/01DE-35`.
    #[must_use]
    pub fn formatted(&self) -> String {
        fill("##.###.###/####-##", &self.0)
    }

    /// Returns the CNPJ with all but six characters masked, as in `**.ABC.345/****-**`.
    #[must_use]
    pub fn masked(&self) -> String {
        fill("**.###.###/****-**", &self.0)
    }
}

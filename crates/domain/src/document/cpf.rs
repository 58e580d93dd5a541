//! The tax number of a person: nine digits and two check digits.

use super::{DocumentError, all_equal, bare, check_digit, fill};

/// The number of digits in a CPF without punctuation.
pub(super) const LENGTH: usize = 11;
/// The number of digits before the check digits.
const BODY: usize = 9;
/// The weights of the first check digit.
const FIRST: [u32; 9] = [10, 9, 8, 7, 6, 5, 4, 3, 2];
/// The weights of the second check digit.
const SECOND: [u32; 10] = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];

/// A valid CPF, stored as 11 digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cpf(String);

impl Cpf {
    /// Parses a CPF with or without punctuation.
    ///
    /// # Errors
    /// [`DocumentError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let digits = bare(text);
        if digits.chars().count() != LENGTH {
            return Err(DocumentError::WrongLength);
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DocumentError::WrongCharacter);
        }
        if all_equal(&digits) {
            return Err(DocumentError::AllEqual);
        }
        let first = check_digit(digits.bytes().take(BODY), &FIRST);
        let second = check_digit(digits.bytes().take(BODY.saturating_add(1)), &SECOND);
        if digits.chars().skip(BODY).eq([first, second]) {
            Ok(Self(digits))
        } else {
            Err(DocumentError::WrongCheckDigits)
        }
    }

    /// Returns the 11 digits without punctuation.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the CPF with punctuation, as in `123.456.789-09`.
    #[must_use]
    pub fn formatted(&self) -> String {
        fill("###.###.###-##", &self.0)
    }

    /// Returns the CPF with all but six digits masked, as in `***.456.789-**`. Public bodies show a CPF in this form.
    #[must_use]
    pub fn masked(&self) -> String {
        fill("***.###.###-**", &self.0)
    }
}

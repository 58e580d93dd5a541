//! Brazilian tax numbers of persons (CPF) and companies (CNPJ). Parsing verifies the check digits.

mod cnpj;
mod cpf;

pub use cnpj::Cnpj;
pub use cpf::Cpf;

/// The tax number of a person or of a company.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Document {
    /// The tax number of a person.
    Cpf(Cpf),
    /// The tax number of a company.
    Cnpj(Cnpj),
}

/// The reason why a tax number is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The length without punctuation is neither 11 (CPF) nor 14 (CNPJ). [`Cpf::parse`] and [`Cnpj::parse`] also return
    /// this error for the length of the other kind.
    #[error("must have 11 digits (CPF) or 14 characters (CNPJ)")]
    WrongLength,
    /// A character is not permitted in the number.
    #[error("has a character that a CPF or CNPJ cannot have")]
    WrongCharacter,
    /// All characters are equal. Such a number is never issued, even if its check digits match.
    #[error("is not an issued CPF or CNPJ")]
    AllEqual,
    /// The check digits do not match the rest of the number.
    #[error("the check digits of the CPF or CNPJ do not match")]
    WrongCheckDigits,
}

impl Document {
    /// Parses a CPF or a CNPJ. The length decides the kind. Punctuation and lower case are accepted.
    ///
    /// # Errors
    /// [`DocumentError`] with the violated rule.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        match bare(text).chars().count() {
            cpf::LENGTH => Cpf::parse(text).map(Self::Cpf),
            cnpj::LENGTH => Cnpj::parse(text).map(Self::Cnpj),
            _ => Err(DocumentError::WrongLength),
        }
    }

    /// Returns the number without punctuation, as it is stored: `12345678909`, `12ABC34501DE35`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpf(cpf) => cpf.as_str(),
            Self::Cnpj(cnpj) => cnpj.as_str(),
        }
    }

    /// Returns the number with punctuation, for display.
    #[must_use]
    pub fn formatted(&self) -> String {
        match self {
            Self::Cpf(cpf) => cpf.formatted(),
            Self::Cnpj(cnpj) => cnpj.formatted(),
        }
    }

    /// Returns the number with punctuation, with identifying characters masked.
    #[must_use]
    pub fn masked(&self) -> String {
        match self {
            Self::Cpf(cpf) => cpf.masked(),
            Self::Cnpj(cnpj) => cnpj.masked(),
        }
    }
}

/// Returns the text in upper case without the punctuation of tax numbers.
fn bare(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '.' | '-' | '/'))
        .map(|character| character.to_ascii_uppercase())
        .collect()
}

/// Returns whether all bytes are equal.
fn all_equal(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_none_or(|first| bytes.all(|byte| byte == first))
}

/// Returns the check digit of `body`: 11 minus the remainder of the weighted sum divided by 11. If the remainder is 0
/// or 1, the check digit is 0.
///
/// The value of a character in the sum is its ASCII code minus 48 (RFB Nota Técnica 49/2024): 0 to 9 for the digits.
fn check_digit(body: impl Iterator<Item = u8>, weights: &[u32]) -> char {
    let sum = body.zip(weights).fold(0_u32, |sum, (byte, weight)| {
        let value = u32::from(byte.saturating_sub(b'0'));
        sum.saturating_add(value.saturating_mul(*weight))
    });
    let digit = match sum % 11 {
        0 | 1 => 0,
        remainder => 11_u32.saturating_sub(remainder),
    };
    char::from_digit(digit, 10).unwrap_or('0')
}

/// Fills `text` into `pattern`. `#` stands for the next character of `text`. `*` replaces the next character by `*`.
/// Other characters of `pattern` are copied.
fn fill(pattern: &str, text: &str) -> String {
    let mut characters = text.chars();
    pattern
        .chars()
        .filter_map(|slot| match slot {
            '#' => characters.next(),
            '*' => characters.next().map(|_| '*'),
            punctuation => Some(punctuation),
        })
        .collect()
}

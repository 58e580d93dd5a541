//! Brazilian tax numbers of persons (CPF) and companies (CNPJ), checked by their check digits.

mod cnpj;
mod cpf;

pub use cnpj::Cnpj;
pub use cpf::Cpf;

/// A tax number of either kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Document {
    /// Of a person.
    Cpf(Cpf),
    /// Of a company.
    Cnpj(Cnpj),
}

/// Why a tax number was refused. The texts may be shown to the user of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Neither 11 characters (CPF) nor 14 (CNPJ), punctuation apart, or not the number wanted.
    #[error("must have 11 digits (CPF) or 14 characters (CNPJ)")]
    WrongLength,
    /// A character that the number cannot have.
    #[error("has a character that a CPF or CNPJ cannot have")]
    WrongCharacter,
    /// All characters are the same: it passes the arithmetic but is never issued.
    #[error("is not an issued CPF or CNPJ")]
    AllEqual,
    /// The last two digits do not follow from the others.
    #[error("the check digits of the CPF or CNPJ do not match")]
    WrongCheckDigits,
}

impl Document {
    /// Reads a CPF or a CNPJ, told apart by its length; punctuation and lower case are accepted.
    ///
    /// # Errors
    /// [`DocumentError`] says which rule the text breaks.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        match bare(text).chars().count() {
            cpf::LENGTH => Cpf::parse(text).map(Self::Cpf),
            cnpj::LENGTH => Cnpj::parse(text).map(Self::Cnpj),
            _ => Err(DocumentError::WrongLength),
        }
    }

    /// The bare characters, as they travel and are stored: `12345678909`, `12ABC34501DE35`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpf(cpf) => cpf.as_str(),
            Self::Cnpj(cnpj) => cnpj.as_str(),
        }
    }

    /// With punctuation, for people.
    #[must_use]
    pub fn formatted(&self) -> String {
        match self {
            Self::Cpf(cpf) => cpf.formatted(),
            Self::Cnpj(cnpj) => cnpj.formatted(),
        }
    }

    /// With punctuation and without the characters that would identify its owner.
    #[must_use]
    pub fn masked(&self) -> String {
        match self {
            Self::Cpf(cpf) => cpf.masked(),
            Self::Cnpj(cnpj) => cnpj.masked(),
        }
    }
}

/// The text without the punctuation of tax numbers, in upper case.
fn bare(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '.' | '-' | '/'))
        .map(|character| character.to_ascii_uppercase())
        .collect()
}

/// Whether every byte is the same.
fn all_equal(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_none_or(|first| bytes.all(|byte| byte == first))
}

/// The check digit, as a character, of `body` under `weights` (modulo 11; a remainder below 2 gives 0).
///
/// A character counts as its ASCII code less 48, which is the digit itself for digits (RFB Nota Técnica 49/2024 for letters).
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

/// Writes `text` into `pattern`: `#` takes the next character, `*` hides it, anything else stands for itself.
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

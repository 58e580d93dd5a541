//! The key of a Pix receiver. DICT, the Central Bank's directory of Pix keys, defines the types of keys. Keys are
//! validated and normalized. Digits without `+` are never read as a phone number.

mod email;
mod evp;
mod hint;
mod phone;

use std::fmt;

pub use email::EmailKey;
pub use evp::EvpKey;
pub use phone::PhoneKey;

use crate::document::{Cnpj, Cpf, Document, DocumentError};

/// The maximum length of a normalized key, in characters.
pub const MAX_LENGTH: usize = 77;

named! {
    /// The kinds of keys in DICT.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PixKeyType {
        /// The tax number of a person.
        Cpf = "cpf",
        /// The tax number of a company.
        Cnpj = "cnpj",
        /// An e-mail address.
        Email = "email",
        /// A telephone number in E.164.
        Phone = "phone",
        /// A random key that DICT issued.
        Evp = "evp",
    }
}

/// A valid key in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PixKey {
    /// 11 digits.
    Cpf(Cpf),
    /// 14 characters: digits and upper-case letters.
    Cnpj(Cnpj),
    /// An address in lower case.
    Email(EmailKey),
    /// `+` and 2 to 15 digits.
    Phone(PhoneKey),
    /// A UUID in lower case.
    Evp(EvpKey),
}

/// The reason a key is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PixKeyError {
    /// The text is not a CPF.
    #[error(
        "is not a valid CPF: {0}; if it is a phone number, write it with + and the country code, as in +5511987654321"
    )]
    Cpf(DocumentError),
    /// The text is not a CNPJ.
    #[error("is not a valid CNPJ: {0}")]
    Cnpj(DocumentError),
    /// The text is not an e-mail address that DICT accepts.
    #[error("is not a valid e-mail key")]
    Email,
    /// The text is not a telephone number in E.164.
    #[error("is not a valid phone key: write it with + and the country code, as in +5511987654321")]
    Phone,
    /// The text is not a random key.
    #[error("is not a valid random key: it is a UUID with its dashes")]
    Evp,
    /// The digits are not a CPF or CNPJ, and look like a telephone number without `+`.
    #[error(
        "is not a valid CPF or CNPJ; if it is a phone number, write it with + and the country code, as in +5511987654321"
    )]
    PhoneWithoutPlus,
    /// The text is longer than any key.
    #[error("must have at most 77 characters")]
    TooLong,
    /// The text does not resemble any kind of key.
    #[error("is not a Pix key: it must be a CPF, a CNPJ, an e-mail, a phone beginning with + or a random key")]
    Unrecognized,
}

impl fmt::Display for PixKeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PixKey {
    /// Parses a key whose kind is not given. Digits without `+` are a CPF, a CNPJ or invalid, and never a phone number.
    ///
    /// # Errors
    /// [`PixKeyError`], with a hint if the digits look like a phone number.
    pub fn parse(text: &str) -> Result<Self, PixKeyError> {
        if text.contains('@') {
            return Self::parse_as(text, PixKeyType::Email);
        }
        if text.contains('+') {
            return Self::parse_as(text, PixKeyType::Phone);
        }
        if let Ok(evp) = EvpKey::parse(text) {
            return Ok(Self::Evp(evp));
        }
        match Document::parse(text) {
            Ok(Document::Cpf(cpf)) => Ok(Self::Cpf(cpf)),
            Ok(Document::Cnpj(cnpj)) => Ok(Self::Cnpj(cnpj)),
            Err(_) if hint::looks_like_phone(text) => Err(PixKeyError::PhoneWithoutPlus),
            Err(error) => Err(hint::closest(text, error)),
        }
    }

    /// Parses a key of a given kind.
    ///
    /// # Errors
    /// [`PixKeyError`] with the reason why the text is not a key of this kind.
    pub fn parse_as(text: &str, kind: PixKeyType) -> Result<Self, PixKeyError> {
        match kind {
            PixKeyType::Cpf => Cpf::parse(text).map(Self::Cpf).map_err(|error| {
                if hint::looks_like_phone(text) { PixKeyError::PhoneWithoutPlus } else { PixKeyError::Cpf(error) }
            }),
            PixKeyType::Cnpj => Cnpj::parse(text).map(Self::Cnpj).map_err(PixKeyError::Cnpj),
            PixKeyType::Email => EmailKey::parse(text).map(Self::Email),
            PixKeyType::Phone => PhoneKey::parse(text).map(Self::Phone),
            PixKeyType::Evp => EvpKey::parse(text).map(Self::Evp),
        }
    }

    /// Returns the normalized key. This form is sent, stored and compared.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpf(cpf) => cpf.as_str(),
            Self::Cnpj(cnpj) => cnpj.as_str(),
            Self::Email(email) => email.as_str(),
            Self::Phone(phone) => phone.as_str(),
            Self::Evp(evp) => evp.as_str(),
        }
    }

    /// Returns the kind.
    #[must_use]
    pub const fn key_type(&self) -> PixKeyType {
        match self {
            Self::Cpf(_) => PixKeyType::Cpf,
            Self::Cnpj(_) => PixKeyType::Cnpj,
            Self::Email(_) => PixKeyType::Email,
            Self::Phone(_) => PixKeyType::Phone,
            Self::Evp(_) => PixKeyType::Evp,
        }
    }
}

impl fmt::Display for PixKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

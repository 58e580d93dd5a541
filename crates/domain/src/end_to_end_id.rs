//! The identifiers of a Pix and of its return, as the instant payment system (SPI) defines them.

use std::fmt;

use jiff::Timestamp;

/// The length of both identifiers, in characters.
const LENGTH: usize = 32;
/// The length of the institution's code (ISPB) in both identifiers.
const ISPB_LENGTH: usize = 8;
/// The length of the last part, which the institution chooses.
const TAIL_LENGTH: usize = 11;

/// The end-to-end id of a Pix: 32 ASCII letters and digits, case-sensitive.
///
/// Parsing checks only length and alphabet, and not the parts of the id. The institution's code may contain letters in
/// the future (API Pix 2.9.0).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndToEndId(String);

/// The id of a return (`rtrId`) of a Pix, in the format of an [`EndToEndId`]. [`ReturnId::compose`] creates ids that
/// start with `D`; parsing does not require the `D`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReturnId(String);

/// The error for a text that does not have 32 ASCII letters and digits, or for parts that cannot form such a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have exactly 32 ASCII letters and digits")]
pub struct EndToEndIdError;

impl EndToEndId {
    /// Parses an end-to-end id.
    ///
    /// # Errors
    /// [`EndToEndIdError`].
    pub fn parse(text: &str) -> Result<Self, EndToEndIdError> {
        checked(text.to_owned()).map(Self)
    }

    /// Composes an id: `E`, the ISPB of the payer's institution, `at` as `YYYYMMDDhhmm` in UTC, and `tail`.
    ///
    /// # Errors
    /// [`EndToEndIdError`] unless `ispb` has 8 ASCII letters and digits, `tail` has 11, and the year of `at` has four
    /// digits.
    pub fn compose(ispb: &str, at: Timestamp, tail: &str) -> Result<Self, EndToEndIdError> {
        compose('E', ispb, at, tail).map(Self)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ReturnId {
    /// Parses a return id.
    ///
    /// # Errors
    /// [`EndToEndIdError`].
    pub fn parse(text: &str) -> Result<Self, EndToEndIdError> {
        checked(text.to_owned()).map(Self)
    }

    /// Composes an id: `D`, the ISPB of the returning institution, `at` as `YYYYMMDDhhmm` in UTC, and `tail`.
    ///
    /// # Errors
    /// [`EndToEndIdError`] unless `ispb` has 8 ASCII letters and digits, `tail` has 11, and the year of `at` has four
    /// digits.
    pub fn compose(ispb: &str, at: Timestamp, tail: &str) -> Result<Self, EndToEndIdError> {
        compose('D', ispb, at, tail).map(Self)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn compose(letter: char, ispb: &str, at: Timestamp, tail: &str) -> Result<String, EndToEndIdError> {
    if ispb.len() != ISPB_LENGTH || tail.len() != TAIL_LENGTH {
        return Err(EndToEndIdError);
    }
    checked(format!("{letter}{ispb}{}{tail}", at.strftime("%Y%m%d%H%M")))
}

fn checked(text: String) -> Result<String, EndToEndIdError> {
    let valid = text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if valid { Ok(text) } else { Err(EndToEndIdError) }
}

impl fmt::Display for EndToEndId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ReturnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! The copy-and-paste code of a Pix (BR Code, the EMV merchant-presented QR code of the Brazilian payment system).

mod charset;
mod crc;
mod parse;
mod tlv;
mod write;

pub use crc::crc16;

use crate::money::Money;
use crate::pix_key::{PixKey, PixKeyError};

/// The maximum length of a code, in characters (API Pix, `pixCopiaECola`).
pub const MAX_LENGTH: usize = 512;
/// The maximum length of a written merchant name, in characters.
pub const MAX_NAME_LENGTH: usize = 25;
/// The maximum length of a written merchant city, in characters.
pub const MAX_CITY_LENGTH: usize = 15;

/// The identifier at the beginning of the Pix template, the merchant account that belongs to Pix. Parsing ignores case.
const GUI: &str = "br.gov.bcb.pix";
/// The reference label of a code without a txid. In a code with a txid, the txid is the label.
const NO_REFERENCE: &str = "***";

/// The ids of the elements that a Pix code uses. The elements of the second group are inside the Pix template, except
/// `REFERENCE`, which is inside `ADDITIONAL`.
mod id {
    pub(super) const FORMAT: &str = "00";
    pub(super) const INITIATION: &str = "01";
    pub(super) const MERCHANT_ACCOUNT: &str = "26";
    pub(super) const LAST_MERCHANT_ACCOUNT: &str = "51";
    pub(super) const CATEGORY: &str = "52";
    pub(super) const CURRENCY: &str = "53";
    pub(super) const AMOUNT: &str = "54";
    pub(super) const COUNTRY: &str = "58";
    pub(super) const NAME: &str = "59";
    pub(super) const CITY: &str = "60";
    pub(super) const POSTAL_CODE: &str = "61";
    pub(super) const ADDITIONAL: &str = "62";
    pub(super) const CRC: &str = "63";

    pub(super) const GUI: &str = "00";
    pub(super) const KEY: &str = "01";
    pub(super) const INFO: &str = "02";
    pub(super) const REFERENCE: &str = "05";
    pub(super) const LOCATION: &str = "25";
}

/// A code that contains the receiver's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticCode {
    /// The receiver's key.
    pub key: PixKey,
    /// Free text for the payer.
    pub info: Option<String>,
    /// The amount. If absent, the payer enters one.
    pub amount: Option<Money>,
    /// The name of the receiver.
    pub merchant_name: String,
    /// The city of the receiver.
    pub merchant_city: String,
    /// The postal code (CEP) of the receiver.
    pub postal_code: Option<String>,
    /// The txid that the payer's institution passes on. Writing permits only 1 to 25 ASCII letters and digits.
    pub txid: Option<String>,
}

/// A code that contains the address of a charge.
///
/// If the charge differs from the code, the charge counts. The amount is for display only. Parsing discards the
/// reference label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicCode {
    /// The address of the charge without `https://`.
    pub location: String,
    /// `true` if the code can be paid only once.
    pub single_use: bool,
    /// The amount, for display.
    pub amount: Option<Money>,
    /// The name of the receiver.
    pub merchant_name: String,
    /// The city of the receiver.
    pub merchant_city: String,
    /// The postal code (CEP) of the receiver.
    pub postal_code: Option<String>,
}

/// A code of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrCode {
    /// A code with the receiver's key.
    Static(StaticCode),
    /// A code with the address of a charge.
    Dynamic(DynamicCode),
}

/// The reason why a code cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrCodeError {
    /// An element is incomplete, or its id or length is not two digits.
    #[error("the code is broken: an element does not have its declared length")]
    BrokenElement,
    /// The code, or one of its fields, is longer than allowed.
    #[error("field {field} of the code is too long: at most {max} characters")]
    TooLong {
        /// The id of the field in the code, or `code` for the whole code.
        field: &'static str,
        /// The limit, in characters.
        max: usize,
    },
    /// A mandatory field is missing, or has no permitted character.
    #[error("field {field} of the code is missing or empty")]
    Missing {
        /// The id of the field in the code.
        field: &'static str,
    },
    /// A field occurs twice.
    #[error("field {field} of the code is repeated")]
    Repeated {
        /// The id of the field in the code.
        field: &'static str,
    },
    /// A field has a value that is not permitted.
    #[error("field {field} of the code has a value that is not allowed")]
    Invalid {
        /// The id of the field in the code.
        field: &'static str,
    },
    /// The checksum at the end does not match.
    #[error("the checksum of the code does not match: it was probably cut or mistyped")]
    WrongCrc,
    /// No merchant account of the code belongs to Pix.
    #[error("the code is not a Pix code")]
    NotPix,
    /// The code has both a key and the address of a charge, or neither.
    #[error("a Pix code has either a key or the address of a charge")]
    KeyOrLocation,
    /// The key is invalid.
    #[error("the key of the code {0}")]
    Key(PixKeyError),
}

impl BrCode {
    /// Parses a code leniently: unknown elements are skipped, and field 62 may be missing.
    ///
    /// # Errors
    /// [`BrCodeError`] if the structure, the checksum or a known field is wrong, or the receiver is ambiguous.
    pub fn parse(text: &str) -> Result<Self, BrCodeError> {
        parse::parse(text)
    }

    /// Returns the text of the code, after a check of all fields.
    ///
    /// # Errors
    /// See [`StaticCode::write`] and [`DynamicCode::write`].
    pub fn write(&self) -> Result<String, BrCodeError> {
        match self {
            Self::Static(code) => code.write(),
            Self::Dynamic(code) => code.write(),
        }
    }
}

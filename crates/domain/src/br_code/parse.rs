//! Parses codes leniently. An ambiguous receiver or an unreadable amount is always an error.

use super::crc::crc16;
use super::tlv::{self, Element, only, required};
use super::{BrCode, BrCodeError, DynamicCode, GUI, MAX_LENGTH, NO_REFERENCE, StaticCode, id};
use crate::money::Money;
use crate::pix_key::PixKey;

/// The number of characters in the checksum.
const CRC_LENGTH: usize = 4;

/// Parses a code. Blanks around the code are ignored.
pub(super) fn parse(text: &str) -> Result<BrCode, BrCodeError> {
    let text = text.trim();
    if text.chars().nth(MAX_LENGTH).is_some() {
        return Err(BrCodeError::TooLong { field: "code", max: MAX_LENGTH });
    }
    let elements = tlv::read(text)?;
    check_frame(text, &elements)?;
    let account = pix_account(&elements)?;

    let amount = only(&elements, id::AMOUNT)?.map(read_amount).transpose()?;
    let merchant_name = required(&elements, id::NAME)?.to_owned();
    let merchant_city = required(&elements, id::CITY)?.to_owned();
    let postal_code = only(&elements, id::POSTAL_CODE)?.map(str::to_owned);
    // The reference is also read for dynamic codes, so that a broken field 62 is an error in both kinds of code.
    let txid = reference(&elements)?;
    match (only(&account, id::KEY)?, only(&account, id::LOCATION)?) {
        (Some(key), None) => Ok(BrCode::Static(StaticCode {
            key: PixKey::parse(key).map_err(BrCodeError::Key)?,
            info: only(&account, id::INFO)?.map(str::to_owned),
            amount,
            merchant_name,
            merchant_city,
            postal_code,
            txid,
        })),
        (None, Some(location)) => Ok(BrCode::Dynamic(DynamicCode {
            location: location.to_owned(),
            single_use: only(&elements, id::INITIATION)? == Some("12"),
            amount,
            merchant_name,
            merchant_city,
            postal_code,
        })),
        (Some(_), Some(_)) | (None, None) => Err(BrCodeError::KeyOrLocation),
    }
}

/// Checks the fields that every code has. The format must be the first field. The checksum must be the last field and
/// correct. Currency and country must be those of Brazil.
fn check_frame(text: &str, elements: &[Element<'_>]) -> Result<(), BrCodeError> {
    if elements.first().is_none_or(|first| first.id != id::FORMAT || first.value != "01") {
        return Err(BrCodeError::Invalid { field: id::FORMAT });
    }
    let last = elements.last().filter(|last| last.id == id::CRC).ok_or(BrCodeError::Missing { field: id::CRC })?;
    let declared = last.value;
    if declared.len() != CRC_LENGTH || !declared.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(BrCodeError::WrongCrc);
    }
    let covered = text.strip_suffix(declared).ok_or(BrCodeError::WrongCrc)?;
    if u16::from_str_radix(declared, 16) != Ok(crc16(covered.as_bytes())) {
        return Err(BrCodeError::WrongCrc);
    }
    for (field, expected) in [(id::CURRENCY, "986"), (id::COUNTRY, "BR")] {
        if required(elements, field)? != expected {
            return Err(BrCodeError::Invalid { field });
        }
    }
    Ok(())
}

/// Returns the elements of the only merchant account for Pix.
fn pix_account<'a>(elements: &[Element<'a>]) -> Result<Vec<Element<'a>>, BrCodeError> {
    let accounts = id::MERCHANT_ACCOUNT..=id::LAST_MERCHANT_ACCOUNT;
    let mut found = None;
    for element in elements.iter().filter(|element| accounts.contains(&element.id)) {
        // Merchant accounts of other payment schemes may have any content, so unreadable accounts are skipped. An
        // account for Pix always consists of readable elements.
        let Ok(account) = tlv::read(element.value) else {
            continue;
        };
        if !account.first().is_some_and(|first| first.id == id::GUI && first.value.eq_ignore_ascii_case(GUI)) {
            continue;
        }
        if found.replace(account).is_some() {
            return Err(BrCodeError::Repeated { field: id::MERCHANT_ACCOUNT });
        }
    }
    found.ok_or(BrCodeError::NotPix)
}

/// Returns the reference label. Returns `None` if the label is missing, empty or `***`.
fn reference(elements: &[Element<'_>]) -> Result<Option<String>, BrCodeError> {
    let Some(additional) = only(elements, id::ADDITIONAL)? else {
        return Ok(None);
    };
    let label = only(&tlv::read(additional)?, id::REFERENCE)?;
    Ok(label.filter(|label| !label.is_empty() && *label != NO_REFERENCE).map(str::to_owned))
}

/// Parses digits with an optional point, which may be the last character. A sign or an exponent is invalid.
fn read_amount(text: &str) -> Result<Money, BrCodeError> {
    let invalid = BrCodeError::Invalid { field: id::AMOUNT };
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(invalid);
    }
    Money::parse(text.strip_suffix('.').unwrap_or(text)).map_err(|_| invalid)
}

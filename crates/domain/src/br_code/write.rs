//! Writes BR Codes strictly. All mandatory fields are written, only permitted characters are used, and all lengths are
//! checked.

use super::charset::clean;
use super::crc::crc16;
use super::{
    BrCodeError, DynamicCode, GUI, MAX_CITY_LENGTH, MAX_LENGTH, MAX_NAME_LENGTH, NO_REFERENCE, StaticCode, id, tlv,
};
use crate::money::Money;

/// The maximum length of the key and the free text together. The Pix template has at most 99 characters. The
/// identifier, the ids and the lengths need 26 of them.
const MAX_KEY_AND_INFO_LENGTH: usize = 73;
/// The maximum length of a charge's address. The identifier, the ids and the lengths need the other 22 characters of
/// the Pix template.
const MAX_LOCATION_LENGTH: usize = 77;
/// The maximum length of an amount (EMV, field 54).
const MAX_AMOUNT_LENGTH: usize = 13;
/// The maximum length of the txid of a static code.
const MAX_REFERENCE_LENGTH: usize = 25;
/// The number of digits in a CEP.
const POSTAL_CODE_LENGTH: usize = 8;

/// The fields after the Pix template. Both kinds of code have the same fields there.
struct Tail<'a> {
    amount: Option<Money>,
    name: &'a str,
    city: &'a str,
    postal_code: Option<&'a str>,
    reference: &'a str,
}

impl StaticCode {
    /// Returns the code. Accents of the name, the city and the free text are removed, and characters that are not
    /// permitted are dropped. The name and the city are cut to their maximum lengths.
    ///
    /// # Errors
    /// [`BrCodeError`] if a mandatory field is empty, or another field is too long or has a value that is not
    /// permitted.
    pub fn write(&self) -> Result<String, BrCodeError> {
        let mut account = String::new();
        tlv::push(&mut account, id::GUI, GUI)?;
        tlv::push(&mut account, id::KEY, self.key.as_str())?;
        let info = self.info.as_deref().map(|info| clean(info, MAX_LENGTH)).filter(|info| !info.is_empty());
        if let Some(info) = info {
            let max = MAX_KEY_AND_INFO_LENGTH.saturating_sub(self.key.as_str().len());
            if info.len() > max {
                return Err(BrCodeError::TooLong { field: id::INFO, max });
            }
            tlv::push(&mut account, id::INFO, &info)?;
        }
        let reference = self.txid.as_deref().unwrap_or(NO_REFERENCE);
        if reference.len() > MAX_REFERENCE_LENGTH {
            return Err(BrCodeError::TooLong { field: id::REFERENCE, max: MAX_REFERENCE_LENGTH });
        }
        if reference.is_empty() || (self.txid.is_some() && !reference.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            return Err(BrCodeError::Invalid { field: id::REFERENCE });
        }
        let mut code = head(None)?;
        tlv::push(&mut code, id::MERCHANT_ACCOUNT, &account)?;
        finish(
            code,
            &Tail {
                amount: self.amount,
                name: &self.merchant_name,
                city: &self.merchant_city,
                postal_code: self.postal_code.as_deref(),
                reference,
            },
        )
    }
}

impl DynamicCode {
    /// Returns the code. Accents of the name and the city are removed, and characters that are not permitted are
    /// dropped. The name and the city are cut to their maximum lengths. The reference label is always `***`.
    ///
    /// # Errors
    /// [`BrCodeError`] if a mandatory field is empty, or another field is too long or has a value that is not
    /// permitted.
    pub fn write(&self) -> Result<String, BrCodeError> {
        if self.location.len() > MAX_LOCATION_LENGTH {
            return Err(BrCodeError::TooLong { field: id::LOCATION, max: MAX_LOCATION_LENGTH });
        }
        let printable = self.location.bytes().all(|byte| byte.is_ascii_graphic());
        if self.location.is_empty() || !printable || self.location.contains("://") {
            return Err(BrCodeError::Invalid { field: id::LOCATION });
        }
        let mut account = String::new();
        tlv::push(&mut account, id::GUI, GUI)?;
        tlv::push(&mut account, id::LOCATION, &self.location)?;
        let mut code = head(Some(if self.single_use { "12" } else { "11" }))?;
        tlv::push(&mut code, id::MERCHANT_ACCOUNT, &account)?;
        finish(
            code,
            &Tail {
                amount: self.amount,
                name: &self.merchant_name,
                city: &self.merchant_city,
                postal_code: self.postal_code.as_deref(),
                reference: NO_REFERENCE,
            },
        )
    }
}

fn head(initiation: Option<&str>) -> Result<String, BrCodeError> {
    let mut code = String::new();
    tlv::push(&mut code, id::FORMAT, "01")?;
    if let Some(initiation) = initiation {
        tlv::push(&mut code, id::INITIATION, initiation)?;
    }
    Ok(code)
}

fn finish(mut code: String, tail: &Tail<'_>) -> Result<String, BrCodeError> {
    tlv::push(&mut code, id::CATEGORY, "0000")?;
    tlv::push(&mut code, id::CURRENCY, "986")?;
    if let Some(amount) = tail.amount {
        tlv::push(&mut code, id::AMOUNT, &amount_text(amount)?)?;
    }
    tlv::push(&mut code, id::COUNTRY, "BR")?;
    tlv::push(&mut code, id::NAME, &name_text(id::NAME, tail.name, MAX_NAME_LENGTH)?)?;
    tlv::push(&mut code, id::CITY, &name_text(id::CITY, tail.city, MAX_CITY_LENGTH)?)?;
    if let Some(postal_code) = tail.postal_code {
        if postal_code.len() != POSTAL_CODE_LENGTH || !postal_code.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BrCodeError::Invalid { field: id::POSTAL_CODE });
        }
        tlv::push(&mut code, id::POSTAL_CODE, postal_code)?;
    }
    let mut additional = String::new();
    tlv::push(&mut additional, id::REFERENCE, tail.reference)?;
    tlv::push(&mut code, id::ADDITIONAL, &additional)?;
    code.push_str(id::CRC);
    code.push_str("04");
    let crc = format!("{:04X}", crc16(code.as_bytes()));
    code.push_str(&crc);
    if code.len() > MAX_LENGTH {
        return Err(BrCodeError::TooLong { field: "code", max: MAX_LENGTH });
    }
    Ok(code)
}

fn amount_text(amount: Money) -> Result<String, BrCodeError> {
    if !amount.is_positive() {
        return Err(BrCodeError::Invalid { field: id::AMOUNT });
    }
    let text = amount.to_string();
    if text.len() > MAX_AMOUNT_LENGTH {
        return Err(BrCodeError::TooLong { field: id::AMOUNT, max: MAX_AMOUNT_LENGTH });
    }
    Ok(text)
}

fn name_text(field: &'static str, text: &str, max: usize) -> Result<String, BrCodeError> {
    let cleaned = clean(text, max);
    if cleaned.is_empty() { Err(BrCodeError::Missing { field }) } else { Ok(cleaned) }
}

//! Guesses the intended kind of an invalid key. The guess decides only the error message.

use super::PixKeyError;
use crate::document::DocumentError;

/// The area codes that begin with 2, 3, 5 or 7: each first digit, with the second digits in use. [`has_area_code`]
/// handles the area codes that begin with 1, 4, 6, 8 or 9. There, every second digit except 0 is in use.
const PARTIAL_AREAS: [(char, &str); 4] = [('2', "12478"), ('3', "1234578"), ('5', "1345"), ('7', "134579")];

/// Returns whether the text is a Brazilian telephone number whose `+55` is missing, or a mobile number with `55` whose
/// `+` is missing.
pub(super) fn looks_like_phone(text: &str) -> bool {
    let phone_characters =
        |character: char| character.is_ascii_digit() || matches!(character, ' ' | '.' | '-' | '(' | ')');
    if !text.chars().all(phone_characters) {
        return false;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match digits.len() {
        10 | 11 => is_brazilian(&digits),
        13 => digits.strip_prefix("55").is_some_and(is_mobile),
        _ => false,
    }
}

/// Returns the error for the kind of key that the text resembles most by its length. `error` is the error of reading
/// the text as a CPF or CNPJ.
pub(super) fn closest(text: &str, error: DocumentError) -> PixKeyError {
    let length = text.chars().filter(|character| !matches!(character, '.' | '-' | '/')).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    match length {
        11 if digits == 11 => PixKeyError::Cpf(error),
        14 => PixKeyError::Cnpj(error),
        32 => PixKeyError::Evp,
        _ => PixKeyError::Unrecognized,
    }
}

/// Returns whether the digits are an area code, followed by a landline number of eight digits or a mobile number of
/// nine digits.
pub(super) fn is_brazilian(national: &str) -> bool {
    match national.len() {
        10 => has_area_code(national),
        11 => is_mobile(national),
        _ => false,
    }
}

/// Returns whether the digits are an area code, followed by nine digits of which the first is 9.
fn is_mobile(digits: &str) -> bool {
    has_area_code(digits) && digits.chars().nth(2) == Some('9')
}

/// Returns whether the first two digits are one of the 67 area codes in use.
fn has_area_code(digits: &str) -> bool {
    let mut digits = digits.chars();
    let (Some(first), Some(second)) = (digits.next(), digits.next()) else {
        return false;
    };
    match PARTIAL_AREAS.iter().find(|(area, _)| *area == first) {
        Some((_, seconds)) => seconds.contains(second),
        None => matches!(first, '1' | '4' | '6' | '8' | '9') && second != '0',
    }
}

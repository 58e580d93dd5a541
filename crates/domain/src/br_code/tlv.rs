//! The elements of a code. Each element has an id of two digits, the length of its value in characters (two digits),
//! and the value.

use super::BrCodeError;

/// The maximum length of a value, in characters: the largest number of two digits.
const MAX_VALUE_LENGTH: usize = 99;

/// An element. Its texts are borrowed from the code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) id: &'a str,
    pub(super) value: &'a str,
}

/// Splits a code, or a value that consists of elements, into its elements. Every character must belong to an element.
pub(super) fn read(mut text: &str) -> Result<Vec<Element<'_>>, BrCodeError> {
    let mut elements = Vec::new();
    while !text.is_empty() {
        let (id, rest) = take(text, 2)?;
        let (length, rest) = take(rest, 2)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(id) || !digits(length) {
            return Err(BrCodeError::BrokenElement);
        }
        let length = length.parse().map_err(|_| BrCodeError::BrokenElement)?;
        let (value, rest) = take(rest, length)?;
        elements.push(Element { id, value });
        text = rest;
    }
    Ok(elements)
}

/// Splits the text after this number of characters.
fn take(text: &str, characters: usize) -> Result<(&str, &str), BrCodeError> {
    let ends = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    let end = ends.into_iter().nth(characters).ok_or(BrCodeError::BrokenElement)?;
    text.split_at_checked(end).ok_or(BrCodeError::BrokenElement)
}

/// Returns the value of the element with this id. If the id is repeated, returns an error.
pub(super) fn only<'a>(elements: &[Element<'a>], field: &'static str) -> Result<Option<&'a str>, BrCodeError> {
    let mut found = elements.iter().filter(|element| element.id == field);
    let value = found.next().map(|element| element.value);
    if found.next().is_some() { Err(BrCodeError::Repeated { field }) } else { Ok(value) }
}

/// Returns the value of the element with this id. If the value is absent or empty, returns an error.
pub(super) fn required<'a>(elements: &[Element<'a>], field: &'static str) -> Result<&'a str, BrCodeError> {
    only(elements, field)?.filter(|value| !value.is_empty()).ok_or(BrCodeError::Missing { field })
}

/// Appends an element.
pub(super) fn push(code: &mut String, field: &'static str, value: &str) -> Result<(), BrCodeError> {
    let length = value.chars().count();
    if length > MAX_VALUE_LENGTH {
        return Err(BrCodeError::TooLong { field, max: MAX_VALUE_LENGTH });
    }
    for part in [field, &format!("{length:02}"), value] {
        code.push_str(part);
    }
    Ok(())
}

//! A value in the form of its source. TOML files contain numbers, booleans, texts and arrays; all other sources contain only texts.

use figment::value::{Tag, Value};

/// A value of a key.
#[derive(Debug)]
pub struct Given {
    value: Value,
    /// `true` if the source contains only texts.
    is_text: bool,
}

impl Given {
    /// Returns a value of a source.
    pub const fn new(value: Value, is_text: bool) -> Self {
        Self { value, is_text }
    }

    /// Returns a value from a text: a default, or the content of a file with a secret.
    pub const fn of_text(text: String) -> Self {
        Self { value: Value::String(Tag::Default, text), is_text: true }
    }

    /// Returns the value as a text.
    pub fn text(&self) -> Result<&str, String> {
        match self.value.as_str() {
            Some("") => Err("must not be empty".to_owned()),
            Some(text) => Ok(text),
            None => Err("must be a text in quotes".to_owned()),
        }
    }

    /// Returns the value as a whole number.
    pub fn number(&self) -> Option<u32> {
        match self.value.to_num() {
            Some(number) => number
                .to_i128()
                .and_then(|number| u32::try_from(number).ok())
                .or_else(|| number.to_u128()?.try_into().ok()),
            None => self.source_text()?.parse().ok(),
        }
    }

    /// Returns the value as a flag.
    pub fn flag(&self) -> Option<bool> {
        self.value.to_bool().or_else(|| self.source_text()?.parse().ok())
    }

    /// Returns the value as a list: an array, or the parts of a text with commas.
    pub fn items(&self) -> Option<Vec<String>> {
        match &self.value {
            Value::String(_, text) => {
                Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
            }
            Value::Array(_, items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            Value::Char(..) | Value::Bool(..) | Value::Num(..) | Value::Empty(..) | Value::Dict(..) => None,
        }
    }

    /// Returns a text that may represent a number or a flag; `None` for a text in quotes in a file.
    fn source_text(&self) -> Option<&str> {
        self.value.as_str().filter(|_| self.is_text).map(str::trim)
    }
}

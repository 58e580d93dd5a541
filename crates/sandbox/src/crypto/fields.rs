//! The fields of bodies (JSON or a form) and of queries. Numbers may be written as text. Unknown fields are refused.

use std::collections::BTreeMap;

use actix_web::{HttpMessage, HttpRequest, web};
use serde_json::{Map, Value};

use super::{amount::Amount, error::CryptoError};
use crate::pix::body;

/// The longest text of a field, in bytes.
const MAX_TEXT: usize = 2_000;

/// The fields of a request that were not read yet. Each read removes its field.
#[derive(Debug)]
pub struct Fields(BTreeMap<String, Value>);

impl Fields {
    /// Reads the body of a request: JSON, or a form.
    ///
    /// # Errors
    /// 400 if the body is neither JSON nor a form, or cannot be parsed.
    pub async fn of_body(request: &HttpRequest, payload: web::Payload) -> Result<Self, CryptoError> {
        let is_form = request.content_type().eq_ignore_ascii_case("application/x-www-form-urlencoded");
        let bytes = body::bytes(payload).await?;
        if is_form {
            let text = String::from_utf8(bytes.to_vec()).map_err(|_| CryptoError::invalid("body is not UTF-8"))?;
            return Self::of_pairs(&text);
        }
        if !body::is_json(request) {
            return Err(CryptoError::invalid("body must be application/json or a form"));
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| CryptoError::invalid(error.to_string()))?;
        match value {
            Value::Object(fields) => Ok(Self::of_object(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(CryptoError::invalid("\"value\" must be of type object"))
            }
        }
    }

    /// Reads the query of a request.
    ///
    /// # Errors
    /// 400 for a query that cannot be parsed.
    pub fn of_query(request: &HttpRequest) -> Result<Self, CryptoError> {
        Self::of_pairs(request.query_string())
    }

    /// Reads a JSON object. A field with the value null counts as absent.
    #[must_use]
    pub fn of_object(fields: Map<String, Value>) -> Self {
        Self(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
    }

    fn of_pairs(text: &str) -> Result<Self, CryptoError> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(text);
        let pairs = pairs.map_err(|error| CryptoError::invalid(error.to_string()))?.into_inner();
        Ok(Self(pairs.into_iter().map(|(name, value)| (name, Value::String(value))).collect()))
    }

    /// Reads a field without a check of its type.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Reads an optional text. A number is accepted, and returned as text.
    ///
    /// # Errors
    /// 400 for any other type, and for a text that is empty or too long.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, CryptoError> {
        let refused = |reason: &str| Err(CryptoError::invalid(format!("\"{name}\" {reason}")));
        let text = match self.take(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                return refused("must be a string");
            }
        };
        if text.is_empty() {
            refused("is not allowed to be empty")
        } else if text.len() > MAX_TEXT {
            refused("is too long")
        } else {
            Ok(Some(text))
        }
    }

    /// Reads a required text.
    ///
    /// # Errors
    /// 400 if the field is absent or not a text.
    pub fn required_text(&mut self, name: &str) -> Result<String, CryptoError> {
        self.text(name)?.ok_or_else(|| CryptoError::invalid(format!("\"{name}\" is required")))
    }

    /// Reads an optional amount, as a number or as text.
    ///
    /// # Errors
    /// 400 for a value that is not an amount above zero.
    pub fn amount(&mut self, name: &str) -> Result<Option<Amount>, CryptoError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let amount = Amount::parse(&text).filter(Amount::is_positive);
        amount.map(Some).ok_or_else(|| CryptoError::invalid(format!("\"{name}\" must be a positive number")))
    }

    /// Reads a required amount.
    ///
    /// # Errors
    /// 400 if the field is absent or not an amount above zero.
    pub fn required_amount(&mut self, name: &str) -> Result<Amount, CryptoError> {
        self.amount(name)?.ok_or_else(|| CryptoError::invalid(format!("\"{name}\" is required")))
    }

    /// Reads an optional flag; `false` if absent. A text may be in any case, because forms of Python clients contain `True`.
    ///
    /// # Errors
    /// 400 for a value that is not a boolean.
    pub fn flag(&mut self, name: &str) -> Result<bool, CryptoError> {
        let wrong = || CryptoError::invalid(format!("\"{name}\" must be a boolean"));
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::String(text)) => text.to_ascii_lowercase().parse().map_err(|_| wrong()),
            Some(Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) => Err(wrong()),
        }
    }

    /// Reads an optional whole number in a range.
    ///
    /// # Errors
    /// 400 for a value that is not a whole number in the range.
    pub fn whole(&mut self, name: &str, range: std::ops::RangeInclusive<usize>) -> Result<Option<usize>, CryptoError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| CryptoError::invalid(format!("\"{name}\" must be a number in its range")))
    }

    /// Ends the reading. A field that was not read is unknown, and is refused.
    ///
    /// # Errors
    /// 400 with the name of the first unread field.
    pub fn conclude(self) -> Result<(), CryptoError> {
        match self.0.into_keys().next() {
            Some(name) => Err(CryptoError::invalid(format!("\"{name}\" is not allowed"))),
            None => Ok(()),
        }
    }
}

//! Request bodies of Woovi's API: JSON objects, read field by field. Fields that the sandbox does not support are refused.

use actix_web::{HttpRequest, web};
use cais_domain::money::Money;
use serde_json::{Map, Value};

use super::error::WooviError;
use crate::{payments::AMOUNT_LIMIT, pix::body};

/// The longest text of a field without a limit of its own, in characters.
const MAX_TEXT: usize = 2_000;

/// The longest `comment`, in characters. Woovi documents this limit for refunds.
pub const MAX_COMMENT: usize = 140;

/// The longest `correlationID`, in characters. Woovi documents no limit.
const MAX_ID: usize = 255;

/// The unread fields of a JSON object. Each read removes the field.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 400 for a body that is not a JSON object or has another content type; 413 for a body that is too large.
    pub async fn of_body(request: &HttpRequest, payload: web::Payload) -> Result<Self, WooviError> {
        let bytes = body::bytes(payload).await?;
        if !body::is_json(request) {
            return Err(WooviError::refused("the body must be application/json"));
        }
        let value = serde_json::from_slice(&bytes).map_err(|error| WooviError::refused(error.to_string()))?;
        Self::of_value("body", value)
    }

    /// Takes the fields of a JSON object. `name` names the object in the error.
    ///
    /// # Errors
    /// 400 if the value is not an object.
    pub fn of_value(name: &str, value: Value) -> Result<Self, WooviError> {
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(WooviError::refused(format!("{name} must be an object")))
            }
        }
    }

    /// Reads a field; null counts as absent.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Reads an optional text of at most `max` characters.
    ///
    /// # Errors
    /// 400 if the field has another type, or a longer text.
    pub fn text_of(&mut self, name: &str, max: usize) -> Result<Option<Box<str>>, WooviError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().count() <= max => Ok(Some(text.into())),
            Some(_) => Err(WooviError::refused(format!("{name} must be a string of at most {max} characters"))),
        }
    }

    /// Reads an optional text.
    ///
    /// # Errors
    /// The errors of [`Fields::text_of`].
    pub fn text(&mut self, name: &str) -> Result<Option<Box<str>>, WooviError> {
        self.text_of(name, MAX_TEXT)
    }

    /// Reads a required text that is not empty.
    ///
    /// # Errors
    /// 400 if the field is absent, empty or of another type.
    pub fn required_text(&mut self, name: &str) -> Result<Box<str>, WooviError> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| WooviError::refused(format!("{name} is required")))
    }

    /// Reads the required `correlationID`.
    ///
    /// # Errors
    /// 400 if the field is absent, empty, too long or of another type.
    pub fn correlation_id(&mut self) -> Result<Box<str>, WooviError> {
        let id = self.text_of("correlationID", MAX_ID)?.filter(|id| !id.is_empty());
        id.ok_or_else(|| WooviError::refused("correlationID is required"))
    }

    /// Reads an optional amount in cents: an integer above zero and below [`AMOUNT_LIMIT`].
    ///
    /// # Errors
    /// 400 for any other value.
    pub fn cents(&mut self, name: &str) -> Result<Option<Money>, WooviError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let amount = value.as_i64().map(Money::from_centavos);
        let amount = amount.filter(|amount| amount.is_positive() && *amount < AMOUNT_LIMIT);
        amount.map(Some).ok_or_else(|| WooviError::refused(format!("{name} must be an integer in cents above 0")))
    }

    /// Reads a required amount in cents.
    ///
    /// # Errors
    /// 400 if the field is absent, and the errors of [`Fields::cents`].
    pub fn required_cents(&mut self, name: &str) -> Result<Money, WooviError> {
        self.cents(name)?.ok_or_else(|| WooviError::refused(format!("{name} is required")))
    }

    /// Reads an optional boolean; `None` if absent.
    ///
    /// # Errors
    /// 400 for another type.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, WooviError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(WooviError::refused(format!("{name} must be a boolean"))),
        }
    }

    /// Reads an optional list; an absent list is empty.
    ///
    /// # Errors
    /// 400 for another type.
    pub fn list(&mut self, name: &str) -> Result<Vec<Value>, WooviError> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(WooviError::refused(format!("{name} must be a list"))),
        }
    }

    /// Refuses the fields that were not read.
    ///
    /// # Errors
    /// 400 with the name of the first unread field.
    pub fn conclude(self) -> Result<(), WooviError> {
        match self.0.into_iter().find(|(_, value)| !value.is_null()) {
            Some((name, _)) => Err(WooviError::refused(format!("{name} is not a field that the sandbox serves"))),
            None => Ok(()),
        }
    }
}

//! Parses a JSON object. Errors have the form of Efí's schema validation: each has a JSON Schema keyword and a path.

use cais_domain::money::Money;
use serde::Serialize;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::wire;

/// The largest number of errors of an answer. A body of 64 KiB could produce thousands.
const MAX_ERRORS: usize = 50;

/// The longest name of an unknown property in an error, in characters. Longer names are cut.
const MAX_ECHO: usize = 100;

/// A violated rule of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaError {
    /// The JSON Schema keyword, such as `required` or `pattern`.
    pub chave: &'static str,
    /// The path, such as `.body.pagador`. For a missing or unknown property, the path of its object.
    pub caminho: String,
    /// The message for people.
    pub mensagem: String,
}

impl SchemaError {
    /// Creates an error for the violated `keyword` at `path`.
    #[must_use]
    pub fn new(keyword: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { chave: keyword, caminho: path.into(), mensagem: message.into() }
    }
}

/// The violations found so far.
#[derive(Debug, Default)]
pub struct Findings(Vec<SchemaError>);

impl Findings {
    /// Adds a violation.
    pub fn add(&mut self, keyword: &'static str, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(SchemaError::new(keyword, path, message));
    }

    /// Returns `value` if no rule was violated.
    ///
    /// # Errors
    /// 400 `json_invalido` if a rule was violated or `value` is `None`. The refusal has at most the first 50 violations.
    pub fn conclude<T>(mut self, value: Option<T>) -> Result<T, Refusal> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) | None => {
                self.0.truncate(MAX_ERRORS);
                Err(Refusal::Schema(self.0))
            }
        }
    }
}

/// An object being parsed. A read removes a field; [`Object::close`] refuses the fields that remain, which are unknown.
#[derive(Debug)]
pub struct Object {
    path: &'static str,
    fields: Map<String, Value>,
}

impl Object {
    /// Opens the value at `path`. A value that is not an object is a violation.
    pub fn open(path: &'static str, value: Value, findings: &mut Findings) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self { path, fields }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                findings.add("type", path, "must be an object");
                None
            }
        }
    }

    /// Removes and returns a field, if present.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// Removes and returns a required field. An absent field is a violation.
    pub fn require(&mut self, name: &str, findings: &mut Findings) -> Option<Value> {
        let value = self.take(name);
        if value.is_none() {
            findings.add("required", self.path, format!("must have the property {name}"));
        }
        value
    }

    /// Adds a violation for each remaining field.
    pub fn close(self, findings: &mut Findings) {
        for name in self.fields.keys() {
            let name: String = name.chars().take(MAX_ECHO).collect();
            findings.add("additionalProperties", self.path, format!("must not have the property {name}"));
        }
    }
}

/// Parses a text of at most `max` characters without control characters.
pub fn text(path: &'static str, value: Value, max: usize, findings: &mut Findings) -> Option<Box<str>> {
    let Value::String(text) = value else {
        findings.add("type", path, "must be a string");
        return None;
    };
    if text.chars().count() > max {
        findings.add("maxLength", path, format!("must have at most {max} characters"));
        return None;
    }
    if text.chars().any(char::is_control) {
        findings.add("pattern", path, "must not have control characters");
        return None;
    }
    Some(text.into())
}

/// Parses a text that satisfies `valid`. The message of a violation shows `rule`, the pattern of the schema.
pub fn matching(
    path: &'static str,
    value: Value,
    valid: impl Fn(&str) -> bool,
    rule: &str,
    findings: &mut Findings,
) -> Option<Box<str>> {
    let Value::String(text) = value else {
        findings.add("type", path, "must be a string");
        return None;
    };
    if !valid(&text) {
        findings.add("pattern", path, format!("must match {rule}"));
        return None;
    }
    Some(text.into())
}

/// Parses an amount: a string that matches `^[0-9]{1,10}\.[0-9]{2}$`.
pub fn amount(path: &'static str, value: Value, findings: &mut Findings) -> Option<Money> {
    let valid = |text: &str| wire::parse_strict_amount(text).is_some();
    let text = matching(path, value, valid, r"^[0-9]{1,10}\.[0-9]{2}$", findings)?;
    wire::parse_strict_amount(&text)
}

//! Parses a JSON object field by field. The violations are collected, so that a client receives them together.

use cais_domain::money::Money;
use serde_json::{Map, Value};

use super::problem::{Kind, Problem, Violation};
use crate::wire;

/// The violations found so far.
#[derive(Debug, Default)]
pub struct Findings(Vec<Violation>);

impl Findings {
    /// Adds a violation of `property`. `value` is the refused value, or empty.
    pub fn add(&mut self, property: impl Into<String>, reason: impl Into<String>, value: &str) {
        self.0.push(Violation::new(property, reason, value));
    }

    /// Returns `value` if no rule was violated.
    ///
    /// # Errors
    /// A problem of type `kind` if a rule was violated or `value` is `None`. The problem has at most the first 50 violations.
    pub fn conclude<T>(self, kind: Kind, value: Option<T>) -> Result<T, Problem> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) | None => Err(Problem::violations(kind, self.0)),
        }
    }
}

/// An object being parsed. A read removes a field; [`Object::close`] refuses the fields that remain, which are unknown.
#[derive(Debug)]
pub struct Object {
    path: String,
    fields: Map<String, Value>,
}

impl Object {
    /// Opens the value at `path`. A value that is not an object is a violation.
    pub fn open(path: impl Into<String>, value: Value, findings: &mut Findings) -> Option<Self> {
        let path = path.into();
        match value {
            Value::Object(fields) => Some(Self { path, fields }),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                findings.add(path, "must be an object", &shown(&other));
                None
            }
        }
    }

    /// Returns the path of a field, such as `cob.valor`.
    #[must_use]
    pub fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Returns whether no field remains.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Removes and returns a field, if present.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// Removes and returns a required field. An absent field is a violation.
    pub fn require(&mut self, name: &str, findings: &mut Findings) -> Option<Value> {
        let value = self.take(name);
        if value.is_none() {
            findings.add(self.path_of(name), "is required", "");
        }
        value
    }

    /// Adds a violation for each remaining field.
    pub fn close(self, findings: &mut Findings) {
        for (name, value) in &self.fields {
            findings.add(format!("{}.{name}", self.path), "is not a known property", &shown(value));
        }
    }
}

/// Parses a text of at most `max` characters without control characters other than line breaks.
pub fn text(path: &str, value: Value, max: usize, findings: &mut Findings) -> Option<Box<str>> {
    let Value::String(text) = value else {
        findings.add(path, "must be a string", &shown(&value));
        return None;
    };
    if text.chars().count() > max {
        findings.add(path, format!("must have at most {max} characters"), &text);
        return None;
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\r') {
        findings.add(path, "must not have control characters", "");
        return None;
    }
    Some(text.into())
}

/// Parses an amount: a string that matches `\d{1,10}\.\d{2}`.
pub fn amount(path: &str, value: &Value, findings: &mut Findings) -> Option<Money> {
    let amount = value.as_str().and_then(wire::parse_strict_amount);
    if amount.is_none() {
        findings.add(path, r"must be a string of the pattern \d{1,10}\.\d{2}", &shown(value));
    }
    amount
}

/// Parses an integer of 32 bits.
pub fn integer(path: &str, value: &Value, findings: &mut Findings) -> Option<i32> {
    let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
    if number.is_none() {
        findings.add(path, "must be an integer of 32 bits", &shown(value));
    }
    number
}

/// Formats a JSON value for a violation: a string without quotes, other values as JSON.
#[must_use]
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

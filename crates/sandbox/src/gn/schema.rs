//! Takes a JSON object apart as Efí's schema validation does: each error has the schema's keyword and the path.

use cais_domain::money::Money;
use serde::Serialize;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::wire;

/// Most errors in one answer; a body of 64 KiB could produce thousands.
const MAX_ERRORS: usize = 50;

/// Longest name of an unknown property that an error repeats, in characters.
const MAX_ECHO: usize = 100;

/// One rule of the schema that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaError {
    /// The JSON Schema keyword, such as `required` or `pattern`.
    pub chave: &'static str,
    /// Where, such as `.body.pagador`. A missing or unknown property is told at the object that should or should not have it.
    pub caminho: String,
    /// What is wrong, for people.
    pub mensagem: String,
}

impl SchemaError {
    /// The schema's `keyword` was broken at `path`.
    #[must_use]
    pub fn new(keyword: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { chave: keyword, caminho: path.into(), mensagem: message.into() }
    }
}

/// The broken rules found so far.
#[derive(Debug, Default)]
pub struct Findings(Vec<SchemaError>);

impl Findings {
    /// Adds one.
    pub fn add(&mut self, keyword: &'static str, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(SchemaError::new(keyword, path, message));
    }

    /// Passes `value` on when no rule was broken.
    ///
    /// # Errors
    /// 400 `json_invalido` with what was found, also when `value` is absent.
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

/// An object that is being taken apart; what is left of it at the end is unknown and refused.
#[derive(Debug)]
pub struct Object {
    path: &'static str,
    fields: Map<String, Value>,
}

impl Object {
    /// Begins with the value at `path`, which must be an object.
    pub fn open(path: &'static str, value: Value, findings: &mut Findings) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self { path, fields }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                findings.add("type", path, "must be an object");
                None
            }
        }
    }

    /// Takes a field out, if it is there.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// Takes out a field that must be there.
    pub fn require(&mut self, name: &str, findings: &mut Findings) -> Option<Value> {
        let value = self.take(name);
        if value.is_none() {
            findings.add("required", self.path, format!("must have the property {name}"));
        }
        value
    }

    /// Refuses whatever was not taken out.
    pub fn close(self, findings: &mut Findings) {
        for name in self.fields.keys() {
            let name: String = name.chars().take(MAX_ECHO).collect();
            findings.add("additionalProperties", self.path, format!("must not have the property {name}"));
        }
    }
}

/// A text of at most `max` characters without control characters.
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

/// A text that `valid` takes; `rule` is the schema's pattern.
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

/// An amount, `^[0-9]{1,10}\.[0-9]{2}$` as a string.
pub fn amount(path: &'static str, value: Value, findings: &mut Findings) -> Option<Money> {
    let valid = |text: &str| wire::parse_strict_amount(text).is_some();
    let text = matching(path, value, valid, r"^[0-9]{1,10}\.[0-9]{2}$", findings)?;
    wire::parse_strict_amount(&text)
}

//! Reads values one by one and collects their problems.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use cais_ports::Secret;
use figment::value::{Dict, Value};
use figment::{Figment, Provider as _};

use super::keys::{self, FILE_SUFFIX};
use super::problem::{Problem, Problems};
use super::source;

/// The origin of a key without a value.
const NOT_SET: &str = "not set";
/// The text shown in place of a secret.
pub const MASK: &str = "***";
/// Largest file that may hold a secret.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// A value that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The key.
    pub key: String,
    /// The value, or a mask; empty without a value.
    pub value: String,
    /// Origin of the value.
    pub origin: String,
    /// `true` for a number or a boolean, rather than a text that may look like one.
    pub is_literal: bool,
}

/// A configuration as it is being read.
#[derive(Debug)]
pub struct Reader {
    figment: Figment,
    problems: Vec<Problem>,
    effective: Vec<Effective>,
}

impl Reader {
    /// Returns a reader with a problem for every unknown key.
    pub fn new(figment: Figment) -> Self {
        let mut reader = Self { figment, problems: Vec::new(), effective: Vec::new() };
        let mut leaves = Vec::new();
        if let Ok(root) = reader.figment.data()
            && let Some(root) = root.get(reader.figment.profile())
        {
            walk("", root, &mut leaves);
        }
        for (path, value) in leaves.iter().filter(|(path, _)| keys::find(path).is_none()) {
            let origin = source::origin(&reader.figment, path, value.tag());
            reader.problem(path, "there is no such key", origin);
        }
        reader
    }

    /// Returns the names of the entries in a table such as `acquirers`.
    pub fn names(&self, table: &str) -> Vec<String> {
        match self.figment.find_value(table) {
            Ok(Value::Dict(_, entries)) => entries
                .into_iter()
                .filter(|(_, entry)| matches!(entry, Value::Dict(..)))
                .map(|(name, _)| name)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Records a problem of a key; `origin` finds the source of the value.
    pub fn wrong(&mut self, path: &str, what: impl Into<String>) {
        let origin = self.origin(path);
        self.problem(path, what, origin);
    }

    /// Returns the text of a key that is set.
    pub fn text(&mut self, path: &str) -> Option<String> {
        let value = self.find(path)?;
        let text = match value {
            Value::String(_, text) if !text.is_empty() => Some(text),
            Value::String(..) => {
                self.wrong(path, "must not be empty");
                return None;
            }
            Value::Char(_, character) => Some(character.to_string()),
            Value::Bool(..) | Value::Num(..) | Value::Empty(..) | Value::Dict(..) | Value::Array(..) => None,
        };
        if text.is_none() {
            self.wrong(path, "must be a text in quotes");
        }
        text
    }

    /// Returns the text parsed by `read`, else `default`; `must` is the rule for the message.
    pub fn parsed<T>(&mut self, path: &str, default: T, must: &str, read: impl FnOnce(&str) -> Option<T>) -> T
    where
        T: std::fmt::Display,
    {
        let Some(text) = self.text(path) else {
            self.show(path, default.to_string());
            return default;
        };
        if let Some(value) = read(&text) {
            self.show(path, text);
            value
        } else {
            self.wrong(path, format!("must be {must}, not `{text}`"));
            default
        }
    }

    /// Returns the text parsed by `read`, if the key is set; the error is the rule for the message.
    pub fn optional<T, E: std::fmt::Display>(
        &mut self,
        path: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = self.text(path) else {
            self.show(path, String::new());
            return None;
        };
        match read(&text) {
            Ok(value) => {
                self.show(path, text);
                Some(value)
            }
            Err(rule) => {
                self.wrong(path, format!("{rule}, not `{text}`"));
                None
            }
        }
    }

    /// Returns a whole number in `range`, else `default`.
    pub fn number(&mut self, path: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        let Some(value) = self.find(path) else {
            self.show_literal(path, default.to_string());
            return default;
        };
        let number = match &value {
            Value::Num(_, number) => number
                .to_i128()
                .and_then(|number| u32::try_from(number).ok())
                .or_else(|| u32::try_from(number.to_u128()?).ok()),
            Value::String(tag, text) if source::is_text_source(&self.figment, *tag) => text.trim().parse().ok(),
            Value::String(..)
            | Value::Char(..)
            | Value::Bool(..)
            | Value::Empty(..)
            | Value::Dict(..)
            | Value::Array(..) => None,
        };
        if let Some(number) = number.filter(|number| range.contains(number)) {
            self.show_literal(path, number.to_string());
            number
        } else {
            self.wrong(path, format!("must be a whole number from {} to {}", range.start(), range.end()));
            default
        }
    }

    /// Returns a flag, else `default`.
    pub fn flag(&mut self, path: &str, default: bool) -> bool {
        let flag = match self.find(path) {
            None => Some(default),
            Some(Value::Bool(_, flag)) => Some(flag),
            Some(Value::String(tag, text)) if source::is_text_source(&self.figment, tag) => text.trim().parse().ok(),
            Some(
                Value::String(..)
                | Value::Char(..)
                | Value::Num(..)
                | Value::Empty(..)
                | Value::Dict(..)
                | Value::Array(..),
            ) => None,
        };
        if let Some(flag) = flag {
            self.show_literal(path, flag.to_string());
            flag
        } else {
            self.wrong(path, "must be true or false");
            default
        }
    }

    /// Returns a list: an array in the file, or one text with commas anywhere. Each item is parsed by `read`.
    pub fn list<T>(&mut self, path: &str, must: &str, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let items: Option<Vec<String>> = match self.find(path) {
            None => Some(Vec::new()),
            Some(Value::String(_, text)) => {
                Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
            }
            Some(Value::Array(_, items)) => items.into_iter().map(Value::into_string).collect(),
            Some(Value::Char(..) | Value::Bool(..) | Value::Num(..) | Value::Empty(..) | Value::Dict(..)) => None,
        };
        let Some(items) = items else {
            self.wrong(path, format!("must be a list of {must}"));
            return Vec::new();
        };
        self.show(path, items.join(","));
        let mut read_items = Vec::with_capacity(items.len());
        for item in items {
            match read(&item) {
                Some(value) => read_items.push(value),
                None => self.wrong(path, format!("must be a list of {must}, not `{item}`")),
            }
        }
        read_items
    }

    /// Returns the file of a key that is set, if the file can be opened.
    pub fn file(&mut self, path: &str) -> Option<PathBuf> {
        let Some(file) = self.text(path).map(PathBuf::from) else {
            self.show(path, String::new());
            return None;
        };
        match std::fs::File::open(&file).and_then(|file| file.metadata()) {
            Ok(metadata) if metadata.is_file() => {
                self.show(path, file.display().to_string());
                Some(file)
            }
            Ok(_) => {
                self.wrong(path, format!("`{}` is not a file", file.display()));
                None
            }
            Err(error) => {
                self.wrong(path, format!("`{}` cannot be read: {error}", file.display()));
                None
            }
        }
    }

    /// Returns a secret, set directly or as a file that holds the secret (without surrounding white space).
    pub fn secret(&mut self, path: &str) -> Option<Secret> {
        let file_path = format!("{path}{FILE_SUFFIX}");
        if self.find(path).is_some() && self.find(&file_path).is_some() {
            self.wrong(&file_path, format!("give `{path}` or `{file_path}`, not both"));
            return None;
        }
        if let Some(file) = self.file_of_secret(&file_path) {
            return Some(file);
        }
        let secret = self.text(path).map(Secret::new);
        if self.find(&file_path).is_none() {
            self.show(path, secret.as_ref().map_or("", |_| MASK).to_owned());
        }
        secret
    }

    fn file_of_secret(&mut self, path: &str) -> Option<Secret> {
        self.find(path)?;
        let file = self.file(path)?;
        let length = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        if length > MAX_SECRET_BYTES {
            self.wrong(path, format!("`{}` is too large for a secret", file.display()));
            return None;
        }
        match std::fs::read_to_string(&file) {
            Ok(text) if text.trim().is_empty() => self.wrong(path, format!("`{}` is empty", file.display())),
            Ok(text) => return Some(Secret::new(text.trim().to_owned())),
            Err(error) => self.wrong(path, format!("`{}` cannot be read: {error}", file.display())),
        }
        None
    }

    /// Returns `true` if a secret is set in either form, valid or not.
    pub fn is_set(&self, path: &str) -> bool {
        self.find(path).is_some() || self.find(&format!("{path}{FILE_SUFFIX}")).is_some()
    }

    /// Replaces the shown value of a key.
    pub fn show_as(&mut self, path: &str, value: String) {
        if let Some(entry) = self.effective.iter_mut().find(|entry| entry.key == path) {
            entry.value = value;
        }
    }

    /// Returns the effective settings if there is no problem.
    ///
    /// # Errors
    /// [`Problems`], all of them.
    pub fn finish(mut self) -> Result<Vec<Effective>, Problems> {
        if self.problems.is_empty() {
            return Ok(self.effective);
        }
        self.problems.sort_by(|one, other| one.key.cmp(&other.key));
        self.problems.dedup();
        Err(Problems(self.problems))
    }

    fn find(&self, path: &str) -> Option<Value> {
        self.figment.find_value(path).ok()
    }

    /// Returns the origin of a key, or [`NOT_SET`].
    pub fn origin(&self, path: &str) -> String {
        self.find(path).map_or_else(|| NOT_SET.to_owned(), |value| source::origin(&self.figment, path, value.tag()))
    }

    fn problem(&mut self, key: &str, what: impl Into<String>, origin: String) {
        self.problems.push(Problem { key: key.to_owned(), what: what.into(), origin });
    }

    /// Notes the value that is in force.
    pub fn show(&mut self, path: &str, value: String) {
        let origin = self
            .find(path)
            .map_or_else(|| "default".to_owned(), |value| source::origin(&self.figment, path, value.tag()));
        self.effective.push(Effective { key: path.to_owned(), value, origin, is_literal: false });
    }

    fn show_literal(&mut self, path: &str, value: String) {
        self.show(path, value);
        if let Some(entry) = self.effective.last_mut() {
            entry.is_literal = true;
        }
    }
}

/// Collects the paths of all values.
fn walk(prefix: &str, dict: &Dict, leaves: &mut Vec<(String, Value)>) {
    for (name, value) in dict {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Dict(_, inner) if !inner.is_empty() => walk(&path, inner, leaves),
            Value::Dict(..)
            | Value::String(..)
            | Value::Char(..)
            | Value::Bool(..)
            | Value::Num(..)
            | Value::Empty(..)
            | Value::Array(..) => {
                leaves.push((path, value.clone()));
            }
        }
    }
}

//! Reads declared keys one by one, and collects their problems, effective values and descriptions.

use std::fs;
use std::path::Path;

use figment::value::{Dict, Value};
use figment::{Figment, Provider as _};

use crate::declare::{Absent, Key, length_of_file};
use crate::given::Given;
use crate::problem::{Problem, Problems};
use crate::source;

/// The origin of a key without a value.
const NOT_SET: &str = "not set";
/// The origin of a default.
pub const DEFAULT: &str = "default";
/// The suffix of the key that names a file with a secret, as in `master_key_file` for `master_key`.
pub const FILE_SUFFIX: &str = "_file";
/// Largest file that may contain a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// A value that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The key.
    pub key: String,
    /// The value, or a mask; empty without a value.
    pub value: String,
    /// Origin of the value: a file, an environment variable, `command line`, or `default`.
    pub origin: String,
    /// `true` for a number or a boolean; `false` for a text, even if the text looks like a number.
    pub is_literal: bool,
    /// `true` if the value is the path of a file with a secret.
    pub is_secret_file: bool,
}

/// A key as `docs/CONFIGURATION.md` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// The path of the key.
    pub path: String,
    /// The possible values.
    pub takes: String,
    /// The default; empty without one.
    pub default: String,
    /// `true` for a secret. The key with the suffix [`FILE_SUFFIX`] may be set in its place.
    pub is_secret: bool,
    /// The meaning.
    pub text: String,
}

/// A declared field: a key, or a function that reads a table or derives a value.
pub trait Declared<T> {
    /// Reads the field. Returns `None` after a mistake, which the reader has recorded.
    fn read(self, reader: &mut Reader, path: &str, text: &str) -> Option<T>;
}

impl<T, F: FnOnce(&mut Reader, &str) -> Option<T>> Declared<T> for F {
    fn read(self, reader: &mut Reader, path: &str, _text: &str) -> Option<T> {
        self(reader, path)
    }
}

/// Returns the path of a field in a table.
pub fn path(table: &str, field: &str) -> String {
    if table.is_empty() { field.to_owned() } else { format!("{table}.{field}") }
}

/// A configuration as it is being read.
#[derive(Debug)]
pub struct Reader {
    figment: Figment,
    problems: Vec<Problem>,
    effective: Vec<Effective>,
    described: Vec<Described>,
}

impl Reader {
    /// Returns a reader of these values.
    pub const fn new(figment: Figment) -> Self {
        Self { figment, problems: Vec::new(), effective: Vec::new(), described: Vec::new() }
    }

    /// Returns the names of the tables in a table, such as the names of the acquirers in `acquirers`.
    pub fn names(&self, table: &str) -> Vec<String> {
        match self.figment.find_value(table) {
            Ok(Value::Dict(_, entries)) => {
                entries.into_iter().filter(|(_, entry)| entry.as_dict().is_some()).map(|(name, _)| name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the names of all values and tables in a table.
    pub fn keys(&self, table: &str) -> Vec<String> {
        match self.figment.find_value(table) {
            Ok(Value::Dict(_, entries)) => entries.into_keys().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the effective values so far.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// Returns the descriptions of the keys that were read.
    pub fn into_described(self) -> Vec<Described> {
        self.described
    }

    /// Records a problem of a key.
    pub fn wrong(&mut self, path: &str, what: impl Into<String>) {
        let origin = self.origin(path).unwrap_or_else(|| NOT_SET.to_owned());
        self.problems.push(Problem { key: path.to_owned(), what: what.into(), origin });
    }

    /// Records a problem for every value that belongs to no declared key, and returns all problems.
    pub fn finish(mut self) -> Problems {
        let mut leaves = Vec::new();
        if let Ok(root) = self.figment.data()
            && let Some(root) = root.get(self.figment.profile())
        {
            walk("", root, &mut leaves);
        }
        leaves.retain(|path| !self.is_key(path));
        for path in leaves {
            self.wrong(&path, "is not a known key");
        }
        self.problems.sort_by(|one, other| one.key.cmp(&other.key));
        self.problems.dedup();
        Problems(self.problems)
    }

    fn describe<T>(&mut self, path: &str, text: &str, key: &Key<T>) {
        let default = match (key.shown_default, &key.absent) {
            (Some(shown), _) => shown,
            (None, Absent::Default(text)) => text,
            (None, Absent::Nothing(_) | Absent::Missing(_)) => "",
        };
        self.described.push(Described {
            path: path.to_owned(),
            takes: key.takes.clone(),
            default: default.to_owned(),
            is_secret: key.is_secret,
            text: text.to_owned(),
        });
    }

    fn show(&mut self, path: &str, value: String, is_literal: bool, is_secret_file: bool) {
        let origin = self.origin(path).unwrap_or_else(|| DEFAULT.to_owned());
        self.effective.push(Effective { key: path.to_owned(), value, origin, is_literal, is_secret_file });
    }

    fn is_key(&self, path: &str) -> bool {
        let bare = path.strip_suffix(FILE_SUFFIX);
        self.described.iter().any(|key| key.path == path || (key.is_secret && Some(key.path.as_str()) == bare))
    }

    fn find(&self, path: &str) -> Option<Given> {
        let value = self.figment.find_value(path).ok()?;
        let is_text = source::is_text_source(&self.figment, value.tag());
        Some(Given::new(value, is_text))
    }

    fn origin(&self, path: &str) -> Option<String> {
        let value = self.figment.find_value(path).ok()?;
        Some(source::origin(&self.figment, path, value.tag()))
    }
}

impl<T> Declared<T> for Key<T> {
    fn read(self, reader: &mut Reader, path: &str, text: &str) -> Option<T> {
        reader.describe(path, text, &self);
        self.value(reader, path).map_err(|(key, rule)| reader.wrong(&key, rule)).ok()
    }
}

impl<T> Key<T> {
    /// Returns the value and records it as effective. The error contains the key with the mistake, and the rule.
    fn value(self, reader: &mut Reader, path: &str) -> Result<T, (String, String)> {
        let file = format!("{path}{FILE_SUFFIX}");
        let wrong = |rule| (path.to_owned(), rule);
        match (reader.find(path), reader.find(&file).filter(|_| self.is_secret)) {
            (Some(_), Some(_)) => Err((file.clone(), format!("give `{path}` or `{file}`, not both"))),
            (Some(given), None) => {
                let (value, shown) = (self.read)(&given).map_err(wrong)?;
                if let Some((_, rule)) = self.rejected.filter(|(condition, _)| condition(&value)) {
                    return Err(wrong(rule.to_owned()));
                }
                reader.show(path, shown, self.is_literal, self.is_secret_file);
                Ok(value)
            }
            (None, Some(given)) => {
                let wrong = |rule| (file.clone(), rule);
                let name = given.text().map_err(wrong)?;
                let secret = Given::of_text(read_secret(name).map_err(wrong)?);
                let (value, _) = (self.read)(&secret).map_err(wrong)?;
                reader.show(&file, name.to_owned(), false, true);
                Ok(value)
            }
            (None, None) => {
                let (value, shown) = match self.absent {
                    Absent::Default(text) => (self.read)(&Given::of_text(text)).map_err(wrong)?,
                    Absent::Nothing(nothing) => (nothing(), String::new()),
                    Absent::Missing("") if self.is_secret => {
                        let name = file.rsplit('.').next().unwrap_or_default();
                        return Err(wrong(format!("is missing: set it, or set `{name}` to a file that contains it")));
                    }
                    Absent::Missing("") => return Err(wrong("is missing".to_owned())),
                    Absent::Missing(advice) => return Err(wrong(format!("is missing: {advice}"))),
                };
                reader.show(path, shown, self.is_literal, false);
                Ok(value)
            }
        }
    }
}

/// Returns the content of a file with a secret, without white space around it.
///
/// # Errors
/// The rule that the file breaks.
pub fn read_secret(file: &str) -> Result<String, String> {
    if length_of_file(Path::new(file))? > MAX_SECRET_BYTES {
        return Err(format!("`{file}` is too large for a secret"));
    }
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Err(format!("`{file}` is empty")),
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(format!("`{file}` cannot be read: {error}")),
    }
}

/// Collects the paths of all values.
fn walk(prefix: &str, dict: &Dict, leaves: &mut Vec<String>) {
    for (name, value) in dict {
        let path = path(prefix, name);
        match value.as_dict() {
            Some(inner) if !inner.is_empty() => walk(&path, inner, leaves),
            Some(_) | None => leaves.push(path),
        }
    }
}

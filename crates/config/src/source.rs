//! The sources of values. Environment variables override the TOML file. Values that a command sets, such as `--sandbox`, override both.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Tag, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::problem::Problem;

/// The prefix of the service's environment variables.
const PREFIX: &str = "CAIS_";
/// The separator between the levels of a key in the name of its environment variable.
const SEPARATOR: &str = "__";
/// The variable with the path of the configuration file. The variable is not a key of the configuration.
const CONFIG_VARIABLE: &str = "CAIS_CONFIG";
/// The name of the provider of environment variables.
const ENVIRONMENT: &str = "environment";
/// The name of the provider of values that a command sets.
const COMMAND: &str = "command line";

/// The sources of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file of `--config`.
    pub file: Option<PathBuf>,
    /// The environment variables, as names and values.
    pub variables: Vec<(String, String)>,
    /// Keys and values that the command sets. They override all other sources.
    pub overrides: Vec<(String, String)>,
    /// The contents of the file after the first read, because a pipe has no contents at a second read.
    pub(crate) text: OnceLock<String>,
}

impl Sources {
    /// Returns the sources of this process: `file`, which is the file of `--config`, and the environment variables with `CAIS_`.
    #[must_use]
    pub fn of_process(file: Option<PathBuf>) -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .filter(|(name, _)| name.starts_with(PREFIX))
            .collect();
        Self { file, variables, ..Self::default() }
    }

    /// Returns the sources without the environment variables `names`, which are not keys of the configuration.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.variables.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }

    /// Returns the sources with one key set by the command itself.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.overrides.push((key.to_owned(), value.into()));
        self
    }

    /// Returns the configuration file: that of `--config`, else that of `CAIS_CONFIG`.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        let named = self.variables.iter().find(|(name, value)| name == CONFIG_VARIABLE && !value.is_empty());
        self.file.as_deref().or_else(|| named.map(|(_, path)| Path::new(path)))
    }

    /// Returns all values, merged.
    ///
    /// # Errors
    /// The [`Problem`] of a file that cannot be read or is not TOML. Then no key can be checked.
    pub(crate) fn merge(&self) -> Result<Figment, Problem> {
        let mut figment = Figment::new();
        if let Some(path) = self.file() {
            let problem = |what: String| Problem { key: "--config".into(), what, origin: path.display().to_string() };
            let text = if let Some(text) = self.text.get() {
                text
            } else {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| problem(format!("cannot be read: {error}")))?;
                self.text.get_or_init(|| text)
            };
            // Only the first line of the error is used. Its other lines repeat a line of the file, which may contain a secret.
            let place = |error: figment::Error| error.kind.to_string().lines().next().map(str::to_owned);
            let invalid = |error| problem(format!("is not valid TOML: {}", place(error).unwrap_or_default()));
            let values = Toml::string(text).data().map_err(invalid)?;
            figment = figment.merge(ConfigFile { path, values });
        }
        let named = |(name, value): &(String, String)| {
            let path = name.strip_prefix(PREFIX)?.to_ascii_lowercase().replace(SEPARATOR, ".");
            (name != CONFIG_VARIABLE && !is_injected(name, value)).then(|| (path, value.clone()))
        };
        let environment = Texts { name: ENVIRONMENT, pairs: self.variables.iter().filter_map(named).collect() };
        let command = Texts { name: COMMAND, pairs: self.overrides.clone() };
        Ok(figment.merge(environment).merge(command))
    }
}

/// Returns `true` for a variable that Kubernetes sets for a Service named `cais`, and that is no key of the configuration. Examples are
/// `CAIS_SERVICE_HOST`, `CAIS_PORT_8080_TCP`, and `CAIS_PORT` if its value is a URL.
fn is_injected(name: &str, value: &str) -> bool {
    let of_service = name.starts_with("CAIS_SERVICE_") || name.starts_with("CAIS_PORT_");
    of_service || (name == "CAIS_PORT" && value.contains("://"))
}

/// The values of the configuration file. The path is their origin in messages.
struct ConfigFile<'p> {
    path: &'p Path,
    values: Map<Profile, Dict>,
}

impl Provider for ConfigFile<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::from("TOML file", self.path)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(self.values.clone())
    }
}

/// Values that arrive as text. The values stay text, because a secret of digits must not become a number.
struct Texts {
    name: &'static str,
    pairs: Vec<(String, String)>,
}

impl Provider for Texts {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let mut root = Dict::new();
        for (path, value) in &self.pairs {
            insert(&mut root, path, value);
        }
        Ok(Profile::Default.collect(root))
    }
}

fn insert(dict: &mut Dict, path: &str, value: &str) {
    match path.split_once('.') {
        None => {
            dict.insert(path.to_owned(), Value::String(Tag::Default, value.to_owned()));
        }
        Some((first, rest)) => {
            let entry = dict.entry(first.to_owned()).or_insert_with(|| Value::Dict(Tag::Default, Dict::new()));
            if !matches!(entry, Value::Dict(..)) {
                *entry = Value::Dict(Tag::Default, Dict::new());
            }
            if let Value::Dict(_, inner) = entry {
                insert(inner, rest, value);
            }
        }
    }
}

/// Returns the environment variable of a key.
pub(crate) fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.to_ascii_uppercase().replace('.', SEPARATOR))
}

/// Returns the origin of a value as messages show it: a variable, a file, `command line` or `default`.
pub(crate) fn origin(figment: &Figment, path: &str, tag: Tag) -> String {
    match figment.get_metadata(tag) {
        Some(metadata) if metadata.name == ENVIRONMENT => variable(path),
        Some(metadata) => metadata
            .source
            .as_ref()
            .and_then(|source| source.file_path())
            .map_or_else(|| metadata.name.to_string(), |path| path.display().to_string()),
        None => crate::reader::DEFAULT.to_owned(),
    }
}

/// Returns `true` if the source of the value contains only texts: the environment, or the values that a command sets.
pub(crate) fn is_text_source(figment: &Figment, tag: Tag) -> bool {
    figment.get_metadata(tag).is_some_and(|metadata| metadata.name == ENVIRONMENT || metadata.name == COMMAND)
}

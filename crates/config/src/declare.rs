//! The declaration of keys: [`keys!`](crate::declare::keys) generates a struct and its reader from one list of keys.
//!
//! A line contains the name, the type of the field, the kind of its values and the default. The checks, the environment variable, `config
//! print` and the page `docs/CONFIGURATION.md` are derived from the line. The documentation of the field becomes its text on that page.

use std::fmt::Display;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ipnet::IpNet;

use crate::given::Given;

/// The text shown in place of a secret.
const MASK: &str = "***";

/// Declares a struct of keys. A line may use the fields above it, each as an `Option` that is `None` after a mistake.
macro_rules! keys {
    ($(#[$about:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $text:literal])+ $field:ident: $type:ty = $declared:expr;)*
    }) => {
        $(#[$about])*
        $vis struct $name {
            $($(#[doc = $text])+ pub $field: $type,)*
        }

        impl $name {
            /// Reads every key of a table. Returns `None` after a mistake, which the reader has recorded.
            pub(crate) fn read(reader: &mut $crate::reader::Reader, table: &str) -> Option<Self> {
                $(let $field: Option<$type> = $crate::reader::Declared::read(
                    $declared,
                    reader,
                    &$crate::reader::path(table, stringify!($field)),
                    concat!($($text),+).trim_start(),
                );)*
                Some(Self { $($field: $field?),* })
            }
        }
    };
}
pub(crate) use keys;

/// A function that reads a value, and returns it with the text that `config print` shows. The error is the rule that the value breaks.
type Read<T> = Box<dyn Fn(&Given) -> Result<(T, String), String>>;

/// A function that returns `true` if a value meets a condition.
type Condition<T> = Box<dyn Fn(&T) -> bool>;

/// The kind of a key's values.
pub struct Kind<T> {
    takes: String,
    is_literal: bool,
    is_secret: bool,
    is_secret_file: bool,
    read: Read<T>,
}

/// The treatment of a key that no source sets.
pub enum Absent<T> {
    /// The text of the default, which is read like a given value.
    Default(String),
    /// No value. The function returns the `T` that represents no value.
    Nothing(fn() -> T),
    /// A mistake, because the key is required. The text is the advice in the message.
    Missing(&'static str),
}

/// A declared key.
pub struct Key<T> {
    pub(crate) takes: String,
    pub(crate) is_literal: bool,
    pub(crate) is_secret: bool,
    pub(crate) is_secret_file: bool,
    pub(crate) read: Read<T>,
    pub(crate) absent: Absent<T>,
    /// The text of the default in `docs/CONFIGURATION.md`, if it differs from the text that is read.
    pub(crate) shown_default: Option<&'static str>,
    /// A condition that a given value must not meet, and the rule for the message.
    pub(crate) rejected: Option<(Condition<T>, &'static str)>,
}

impl<T: 'static> Kind<T> {
    fn new(takes: impl Into<String>, read: impl Fn(&Given) -> Result<(T, String), String> + 'static) -> Self {
        let takes = takes.into();
        Self { takes, is_literal: false, is_secret: false, is_secret_file: false, read: Box::new(read) }
    }

    /// Marks the file as one that holds a secret, so that a warning is given if every user can read it.
    pub fn private(self) -> Self {
        Self { is_secret_file: true, ..self }
    }

    fn key<U>(self, absent: Absent<U>, wrap: impl Fn(T) -> U + 'static) -> Key<U> {
        let Self { takes, is_literal, is_secret, is_secret_file, read } = self;
        let read: Read<U> = Box::new(move |given| read(given).map(|(value, shown)| (wrap(value), shown)));
        Key { takes, is_literal, is_secret, is_secret_file, read, absent, shown_default: None, rejected: None }
    }

    /// Returns a key with a default.
    pub fn default(self, text: impl Into<String>) -> Key<T> {
        self.key(Absent::Default(text.into()), |value| value)
    }

    /// Returns a key that must have a value.
    pub fn required(self, advice: &'static str) -> Key<T> {
        self.key(Absent::Missing(advice), |value| value)
    }

    /// Returns a key that may have no value.
    pub fn optional(self) -> Key<Option<T>> {
        self.key(Absent::Nothing(|| None), Some)
    }
}

impl<T> Key<T> {
    /// Sets the text of the default in `docs/CONFIGURATION.md`.
    pub fn default_shown(self, text: &'static str) -> Self {
        Self { shown_default: Some(text), ..self }
    }

    /// Makes the key required if `condition` is `true`.
    pub fn required_if(self, condition: bool, advice: &'static str) -> Self {
        if condition { Self { absent: Absent::Missing(advice), ..self } } else { self }
    }

    /// Rejects given values that meet the condition. The default is not checked.
    pub fn rejected_if(self, condition: impl Fn(&T) -> bool + 'static, rule: &'static str) -> Self {
        Self { rejected: Some((Box::new(condition), rule)), ..self }
    }
}

/// Declares a text that `parse` reads. The error of `parse` is the rule in the message.
pub fn text<T: 'static, E: Display>(takes: &str, parse: impl Fn(&str) -> Result<T, E> + 'static) -> Kind<T> {
    Kind::new(takes, move |given| {
        let text = given.text()?;
        let value = parse(text).map_err(|rule| format!("{rule}, not `{text}`"))?;
        Ok((value, text.to_owned()))
    })
}

/// Declares a secret, which is never shown. The key contains the secret, or the key with the suffix `_file` names a file with the secret.
/// The error of `parse` must not repeat the secret.
pub fn secret<T: 'static, E: Display>(takes: &str, parse: impl Fn(&str) -> Result<T, E> + 'static) -> Kind<T> {
    masked_secret(takes, parse, |_| MASK.to_owned())
}

/// Declares a secret of which `masked` returns a form that may be shown, such as a URL without its password.
pub fn masked_secret<T: 'static, E: Display>(
    takes: &str,
    parse: impl Fn(&str) -> Result<T, E> + 'static,
    masked: impl Fn(&T) -> String + 'static,
) -> Kind<T> {
    let read = move |given: &Given| {
        let value = parse(given.text()?).map_err(|rule| rule.to_string())?;
        let shown = masked(&value);
        Ok((value, shown))
    };
    Kind { is_secret: true, ..Kind::new(takes, read) }
}

/// Declares a whole number in a range.
pub fn number<T: TryFrom<u32> + 'static>(range: RangeInclusive<u32>) -> Kind<T> {
    let (first, last) = (*range.start(), *range.end());
    let read = move |given: &Given| {
        let number = given.number().filter(|number| range.contains(number));
        let value = number.and_then(|number| Some((T::try_from(number).ok()?, number.to_string())));
        value.ok_or_else(|| format!("must be a whole number from {first} to {last}"))
    };
    Kind { is_literal: true, ..Kind::new(format!("{first} to {last}"), read) }
}

/// Declares a flag: `true` or `false`.
pub fn flag() -> Kind<bool> {
    let read = |given: &Given| {
        let flag = given.flag().ok_or("must be true or false")?;
        Ok((flag, flag.to_string()))
    };
    Kind { is_literal: true, ..Kind::new("true or false", read) }
}

/// Declares a list of words: an array in the file, or one text with commas. `parse` receives the words joined by commas.
pub fn words<T: 'static, E: Display>(takes: &str, parse: impl Fn(&str) -> Result<T, E> + 'static) -> Kind<T> {
    Kind::new(takes, move |given| {
        let text = given.items().ok_or("must be a list of texts")?.join(",");
        let value = parse(&text).map_err(|rule| format!("{rule}, not `{text}`"))?;
        Ok((value, text))
    })
}

/// Declares blocks of addresses: an array in the file, or one text with commas.
pub fn blocks() -> Kind<Vec<IpNet>> {
    const RULE: &str = "must be a list of CIDR blocks such as 10.0.0.0/8";
    Kind::new("CIDR blocks, separated by commas", |given| {
        let items = given.items().ok_or(RULE)?;
        let wrong: Vec<String> =
            items.iter().filter(|item| item.parse::<IpNet>().is_err()).map(|item| format!("`{item}`")).collect();
        if !wrong.is_empty() {
            return Err(format!("{RULE}, not {}", wrong.join(" or ")));
        }
        Ok((items.iter().filter_map(|item| item.parse().ok()).collect(), items.join(",")))
    })
}

/// Declares a file that can be opened.
pub fn file() -> Kind<PathBuf> {
    Kind::new("file", |given| {
        let file = PathBuf::from(given.text()?);
        length_of_file(&file)?;
        let shown = file.display().to_string();
        Ok((file, shown))
    })
}

/// Opens a file and returns its length.
pub fn length_of_file(file: &Path) -> Result<u64, String> {
    let shown = file.display();
    match File::open(file).and_then(|file| file.metadata()) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(format!("`{shown}` is not a file")),
        Err(error) => Err(format!("`{shown}` cannot be read: {error}")),
    }
}

//! Statements: SQL text with `?` for each value, and the values. On both engines a text is prepared once per connection.
//!
//! diesel does not keep the prepared statements of its own `UPDATE`s and of `sql_query`. The prepared statement of a [`Query`] is kept
//! under its text. To keep their number small, each text is one of a small fixed set, or its query is created with [`Query::once`]. Values
//! are always bound parameters.

mod fragment;
pub(crate) mod select;
mod session;
pub(crate) mod spec;
pub(crate) mod table;

pub(crate) use fragment::Statement;
pub(crate) use session::{BalanceRow, Connection, Loaded, NumberRow, Session, loaded};

use std::borrow::Cow;

/// A value of one column of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number: money in centavos, an instant in microseconds, a count.
    Int(i64),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// SQL's null.
    Null,
}

/// The binding of one `?`.
#[derive(Debug)]
pub(crate) enum Bind<'a> {
    /// A single value.
    One(Value<'a>),
    /// A column of texts, one for each row. Only PostgreSQL accepts columns.
    Texts(Vec<Option<&'a str>>),
    /// A column of numbers.
    Ints(Vec<Option<i64>>),
    /// A column of bytes.
    Blobs(Vec<Option<&'a [u8]>>),
}

/// A statement and its values.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    text: Cow<'a, str>,
    binds: Vec<Bind<'a>>,
    /// `true` if the prepared statement is dropped after its execution.
    once: bool,
}

impl<'a> Query<'a> {
    /// Creates a statement without values.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), binds: Vec::new(), once: false }
    }

    /// Creates a statement that is too rare to stay prepared.
    pub(crate) fn once(text: impl Into<Cow<'a, str>>) -> Self {
        Self { once: true, ..Self::new(text) }
    }

    /// Adds the value of the next `?`.
    pub(crate) fn bind(mut self, value: impl Into<Value<'a>>) -> Self {
        self.binds.push(Bind::One(value.into()));
        self
    }

    /// Adds a column of texts for the next `?`.
    pub(crate) fn texts(self, column: impl IntoIterator<Item = &'a str>) -> Self {
        self.column(Bind::Texts(column.into_iter().map(Some).collect()))
    }

    /// Adds a column for the next `?`.
    pub(crate) fn column(mut self, column: Bind<'a>) -> Self {
        self.binds.push(column);
        self
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a> From<Cow<'a, str>> for Value<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<Cow<'a, [u8]>> for Value<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<jiff::Timestamp> for Value<'_> {
    fn from(instant: jiff::Timestamp) -> Self {
        Self::Int(instant.as_microsecond())
    }
}

impl From<cais_domain::money::Money> for Value<'_> {
    fn from(money: cais_domain::money::Money) -> Self {
        Self::Int(money.centavos())
    }
}

impl<K: cais_domain::ids::IdKind> From<cais_domain::ids::Id<K>> for Value<'_> {
    fn from(id: cais_domain::ids::Id<K>) -> Self {
        Self::Text(Cow::Owned(id.to_string()))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

//! Conversion of records to rows and back. The conversion back is strict: a row that the store cannot have written is an error.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod callback;
pub(crate) mod charge;
pub(crate) mod crypto;
pub(crate) mod delivery;
pub(crate) mod drain;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod idempotency;
pub(crate) mod infraction;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod login;
pub(crate) mod payment;
pub(crate) mod payout;
pub(crate) mod position;
pub(crate) mod refund;
pub(crate) mod release;
pub(crate) mod reservation;
pub(crate) mod statement;

#[cfg(test)]
mod tests;

use std::fmt::Display;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{Id, IdKind};
use cais_domain::merchant::webhook::{Postback, WebhookUrl};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{AnyRecord, RecordKey};
use jiff::Timestamp;

use crate::engine::Lookup;
use crate::error::Fault;
use crate::sql::spec::Spec;
use crate::sql::table::Row;
use crate::sql::{Query, Session, Value};

/// A record that is stored as a row.
pub(crate) trait Record: Sized {
    /// The row type.
    type Row<'a>: Row<'a>;

    /// Returns the statement that writes the record with that version, and its values. `read` is the version that was read; a new record
    /// has none.
    fn written(&self, version: i64, read: Option<i64>) -> (&'static Spec, Vec<Value<'_>>) {
        usual(self, version, read)
    }

    /// Returns the row of the record with that version.
    fn row(&self, version: i64) -> Self::Row<'_>;

    /// Returns the record of a row.
    ///
    /// # Errors
    /// [`Fault::Corrupt`] for a row that the store cannot have written.
    fn read(row: Self::Row<'_>) -> Result<Self, Fault>;
}

/// The statements of a kind of records.
#[derive(Debug)]
pub(crate) struct RecordTable {
    /// The statement that inserts records.
    pub(crate) insert: Spec,
    /// The search for records by their keys.
    pub(crate) rows: Lookup,
    /// The statements of changes; `None` if no column changes.
    pub(crate) changes: Option<Changes>,
}

/// The statements of records that change.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The statement that updates records at the version that was read.
    pub(crate) update: Spec,
    /// The search for the versions of records.
    pub(crate) versions: Lookup,
}

impl RecordTable {
    /// Returns the statements of a table.
    pub(crate) const fn of<R: Row<'static>>() -> Self {
        let changes = if R::FIXED < R::COLUMNS.len() {
            Some(Changes { update: Spec::update_rows::<R>(), versions: Lookup::versions::<R>() })
        } else {
            None
        };
        Self { insert: Spec::insert_rows::<R>(), rows: Lookup::rows::<R>(), changes }
    }
}

/// Returns the statement that writes a record, and its values. An insert has all columns. An update has the changing columns, the key, and
/// the version that was read.
fn usual<R: Record>(record: &R, version: i64, read: Option<i64>) -> (&'static Spec, Vec<Value<'_>>) {
    let (table, mut values) = (<R::Row<'static>>::statements(), record.row(version).values());
    let (Some(read), Some(changes)) = (read, &table.changes) else { return (&table.insert, values) };
    let mut row = values.split_off(<R::Row<'_>>::FIXED);
    values.truncate(<R::Row<'_>>::KEYS.len());
    row.append(&mut values);
    row.push(read.into());
    (&changes.update, row)
}

macro_rules! dispatch {
    ($($(#[$doc:meta])* $plural:ident: $name:ident($type:ty) |$one:ident| { $($rest:tt)* })+) => {
        /// Returns the statement that writes a record with that version, and its values; see [`Record::written`].
        pub(crate) fn written(record: &AnyRecord, version: i64, read: Option<i64>) -> (&'static Spec, Vec<Value<'_>>) {
            match record {
                $(AnyRecord::$name(one) => one.written(version, read),)+
            }
        }

        /// Returns the statements of the table of a key.
        pub(crate) fn table_of(key: &RecordKey) -> &'static RecordTable {
            match key {
                $(RecordKey::$name { .. } => <<$type as Record>::Row<'static>>::statements(),)+
            }
        }

        /// Returns the stored record with that key.
        pub(crate) fn find(session: &mut dyn Session, key: &RecordKey) -> Result<Option<AnyRecord>, Fault> {
            let query = key.texts().into_iter().fold(Query::new(table_of(key).rows.single()), Query::bind);
            match key {
                $(RecordKey::$name { .. } => Ok(found::<$type>(session.load(&query)?)?.map(AnyRecord::from)),)+
            }
        }

        /// Returns the statements of all records, for the test of their plans.
        #[cfg(test)]
        pub(crate) fn tables() -> Vec<&'static RecordTable> {
            vec![$(<<$type as Record>::Row<'static>>::statements()),+]
        }
    };
}
cais_ports::records!(dispatch);

/// Returns the record of the only row.
fn found<R: Record>(mut rows: Vec<R::Row<'static>>) -> Result<Option<R>, Fault> {
    rows.pop().map(R::read).transpose()
}

/// Returns an instant in microseconds, as it is stored in a row.
fn us(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_microsecond)
}

/// Returns the fault of an invalid row, with its table and the reason.
fn corrupt(table: &str, why: impl Display) -> Fault {
    Fault::Corrupt(format!("{table}: {why}"))
}

pub(crate) fn instant(table: &str, microseconds: i64) -> Result<Timestamp, Fault> {
    parsed(table, Timestamp::from_microsecond(microseconds))
}

fn optional_instant(table: &str, microseconds: Option<i64>) -> Result<Option<Timestamp>, Fault> {
    microseconds.map(|microseconds| instant(table, microseconds)).transpose()
}

pub(crate) fn id<K: IdKind>(table: &str, text: &str) -> Result<Id<K>, Fault> {
    parsed(table, Id::parse(text))
}

pub(crate) fn acquirer(table: &str, text: &str) -> Result<AcquirerName, Fault> {
    parsed(table, AcquirerName::parse(text))
}

/// Returns a text. Its length was checked when it was written and is not checked again. A control character is an error.
fn parse_text(table: &str, text: Option<&str>) -> Result<Option<Text>, Fault> {
    text.map(|text| parsed(table, Text::parse(text, usize::MAX, LineBreaks::Allowed))).transpose()
}

/// Returns the endpoint to which the events of one order are sent; `None` if the order names none.
fn parse_postback(table: &str, endpoint: Option<&str>, url: Option<&str>) -> Result<Option<Postback>, Fault> {
    match (endpoint, url) {
        (Some(endpoint), Some(url)) => {
            let url = parsed(table, WebhookUrl::parse(url))?;
            Ok(Some(Postback { endpoint: id(table, endpoint)?, url }))
        }
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => {
            Err(corrupt(table, "the endpoint of an order's events lacks its id or its URL"))
        }
    }
}

fn parse_external_id(table: &str, text: Option<&str>) -> Result<Option<ExternalId>, Fault> {
    text.map(|text| parsed(table, ExternalId::parse(text))).transpose()
}

fn parse_end_to_end_id(table: &str, text: Option<&str>) -> Result<Option<EndToEndId>, Fault> {
    text.map(|text| parsed(table, EndToEndId::parse(text))).transpose()
}

fn parse_enum<T>(table: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
    parse(text).ok_or_else(|| corrupt(table, format_args!("unknown value `{text}`")))
}

/// Returns the parsed value, or the fault of a row of that table.
pub(crate) fn parsed<T, E: Display>(table: &str, result: Result<T, E>) -> Result<T, Fault> {
    result.map_err(|error| corrupt(table, error))
}

fn to_u32(table: &str, number: i64) -> Result<u32, Fault> {
    parsed(table, u32::try_from(number))
}

fn bytes32(table: &str, bytes: &[u8]) -> Result<[u8; 32], Fault> {
    bytes.try_into().map_err(|_| corrupt(table, "a hash does not have 32 bytes"))
}

//! Records as rows: what each column holds, and the strict way back. A row that nobody could have written is an error.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod charge;
pub(crate) mod claim;
pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod infraction;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod notice;
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
use cais_domain::text::{LineBreaks, Text};
use jiff::Timestamp;

use crate::error::Fault;

/// Says which table holds the impossible row, and why it is impossible.
fn corrupt(table: &str, why: impl Display) -> Fault {
    Fault::Corrupt(format!("{table}: {why}"))
}

pub(crate) fn instant(table: &str, microseconds: i64) -> Result<Timestamp, Fault> {
    Timestamp::from_microsecond(microseconds).map_err(|error| corrupt(table, error))
}

fn optional_instant(table: &str, microseconds: Option<i64>) -> Result<Option<Timestamp>, Fault> {
    microseconds.map(|microseconds| instant(table, microseconds)).transpose()
}

fn id<K: IdKind>(table: &str, text: &str) -> Result<Id<K>, Fault> {
    Id::parse(text).map_err(|error| corrupt(table, error))
}

pub(crate) fn acquirer(table: &str, text: &str) -> Result<AcquirerName, Fault> {
    AcquirerName::parse(text).map_err(|error| corrupt(table, error))
}

/// The limits were judged when it was written; what is checked again is that no control character slipped in.
fn text(table: &str, text: Option<String>) -> Result<Option<Text>, Fault> {
    text.map(|text| Text::parse(&text, usize::MAX, LineBreaks::Allowed).map_err(|error| corrupt(table, error)))
        .transpose()
}

fn external(table: &str, text: Option<String>) -> Result<Option<ExternalId>, Fault> {
    text.map(|text| ExternalId::parse(&text).map_err(|error| corrupt(table, error))).transpose()
}

fn pix(table: &str, text: Option<String>) -> Result<Option<EndToEndId>, Fault> {
    text.map(|text| EndToEndId::parse(&text).map_err(|error| corrupt(table, error))).transpose()
}

fn word<T>(table: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
    parse(text).ok_or_else(|| corrupt(table, format_args!("unknown word `{text}`")))
}

fn small(table: &str, number: i64) -> Result<u32, Fault> {
    u32::try_from(number).map_err(|error| corrupt(table, error))
}

fn bytes32(table: &str, bytes: &[u8]) -> Result<[u8; 32], Fault> {
    bytes.try_into().map_err(|_| corrupt(table, "a code has not 32 bytes"))
}

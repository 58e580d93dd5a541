//! JSON objects that are written field by field, in the order of the contract.

use std::fmt::Display;
use std::io::Write as _;

use cais_domain::money::Money;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::row::Sink;

/// RFC 3339 in UTC with milliseconds, cut, not rounded: `2026-01-02T03:04:05.678Z`.
pub(crate) fn write_instant(out: &mut Vec<u8>, at: Timestamp) {
    let at = Offset::UTC.to_datetime(at);
    write_digits(out, i32::from(at.year()), 1000);
    out.push(b'-');
    write_digits(out, i32::from(at.month()), 10);
    out.push(b'-');
    write_digits(out, i32::from(at.day()), 10);
    out.push(b'T');
    write_digits(out, i32::from(at.hour()), 10);
    out.push(b':');
    write_digits(out, i32::from(at.minute()), 10);
    out.push(b':');
    write_digits(out, i32::from(at.second()), 10);
    out.push(b'.');
    write_digits(out, i32::from(at.millisecond()), 100);
    out.push(b'Z');
}

/// The digits of `value`, of which the first counts `unit`.
fn write_digits(out: &mut Vec<u8>, value: i32, mut unit: i32) {
    while unit > 0 {
        // A remainder of ten is below ten.
        let digit = u8::try_from((value / unit).rem_euclid(10)).unwrap_or_default();
        out.push(b'0'.saturating_add(digit));
        unit /= 10;
    }
}

/// Writes what needs no escaping, in quotes.
pub(super) fn write_quoted(out: &mut Vec<u8>, value: &dyn Display) {
    out.push(b'"');
    push(out, value);
    out.push(b'"');
}

pub(super) fn push(out: &mut Vec<u8>, value: &dyn Display) {
    // Writing to memory cannot fail, and no value of ours fails to print.
    write!(out, "{value}").unwrap_or_default();
}

/// Writes a text of the caller's as a JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    serde_json::to_writer(out, text).unwrap_or_default();
}

/// Writes values that are JSON already as an array.
pub(super) fn write_list(out: &mut Vec<u8>, items: &[Vec<u8>]) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.push(b']');
}

/// A JSON object that is being written, field by field.
pub(super) struct Object {
    out: Vec<u8>,
}

impl Object {
    /// An object without fields, with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut out = Vec::with_capacity(bytes);
        out.push(b'{');
        Self { out }
    }

    fn key(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// Begins an object within it.
    pub(super) fn open(&mut self, name: &str) {
        self.key(name);
        self.out.push(b'{');
    }

    /// Ends the innermost object.
    pub(super) fn close(&mut self) {
        self.out.push(b'}');
    }

    /// A value of our own making, which needs no escaping.
    pub(super) fn plain_text(&mut self, name: &str, value: &dyn Display) {
        self.key(name);
        write_quoted(&mut self.out, value);
    }

    /// The same where there may be nothing.
    pub(super) fn optional_plain(&mut self, name: &str, value: Option<&str>) {
        self.key(name);
        match value {
            Some(value) => {
                self.out.push(b'"');
                self.out.extend_from_slice(value.as_bytes());
                self.out.push(b'"');
            }
            None => self.null(),
        }
    }

    /// A text of the caller's, or nothing.
    pub(super) fn optional_text(&mut self, name: &str, value: Option<&str>) {
        self.key(name);
        match value {
            Some(value) => write_text(&mut self.out, value),
            None => self.null(),
        }
    }

    /// An instant, or nothing.
    pub(super) fn optional_instant(&mut self, name: &str, value: Option<Timestamp>) {
        self.key(name);
        match value {
            Some(at) => {
                self.out.push(b'"');
                write_instant(&mut self.out, at);
                self.out.push(b'"');
            }
            None => self.null(),
        }
    }

    /// An amount with two decimals.
    pub(super) fn money(&mut self, name: &str, value: Money) {
        self.key(name);
        push(&mut self.out, &value);
    }

    /// A number or a flag.
    pub(super) fn literal(&mut self, name: &str, value: &dyn Display) {
        self.key(name);
        push(&mut self.out, value);
    }

    /// A number, or nothing.
    pub(super) fn optional_literal(&mut self, name: &str, value: Option<&dyn Display>) {
        if let Some(value) = value {
            self.literal(name, value);
        } else {
            self.key(name);
            self.null();
        }
    }

    /// A list of values that are JSON already.
    pub(super) fn list(&mut self, name: &str, items: &[Vec<u8>]) {
        self.key(name);
        write_list(&mut self.out, items);
    }

    /// An amount, or nothing.
    pub(super) fn optional_money(&mut self, name: &str, value: Option<Money>) {
        if let Some(value) = value {
            self.money(name, value);
        } else {
            self.key(name);
            self.null();
        }
    }

    fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    /// Its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.close();
        self.out
    }
}

impl Sink for Object {
    fn plain(&mut self, name: &'static str, value: Option<&dyn Display>) {
        match value {
            Some(value) => self.plain_text(name, value),
            None => self.optional_plain(name, None),
        }
    }

    fn text(&mut self, name: &'static str, value: Option<&str>) {
        self.optional_text(name, value);
    }

    fn money(&mut self, name: &'static str, value: Money) {
        Self::money(self, name, value);
    }

    fn instant(&mut self, name: &'static str, value: Timestamp) {
        self.optional_instant(name, Some(value));
    }
}

//! Rows of the statement and of the timeline: their fields are named once, and written as JSON or as CSV.

use std::fmt::Display;

use cais_domain::money::Money;
use jiff::Timestamp;

use super::csv::{Dialect, Line};
use super::object::Object;

/// Room for a row: one allocation is enough for nearly all.
const ROW_BYTES: usize = 384;

/// Where the fields of a row go, in their order.
pub trait Sink {
    /// A value of our own making, which needs no escaping.
    fn plain(&mut self, name: &'static str, value: Option<&dyn Display>);
    /// A text of the caller's.
    fn text(&mut self, name: &'static str, value: Option<&str>);
    /// An amount with two decimals.
    fn money(&mut self, name: &'static str, value: Money);
    /// An instant in UTC with milliseconds.
    fn instant(&mut self, name: &'static str, value: Timestamp);
}

/// What is listed row by row.
pub trait Row {
    /// The names of its fields, in their order: what a CSV file begins with.
    const NAMES: &'static [&'static str];

    /// Writes every field.
    fn write(&self, sink: &mut dyn Sink);

    /// The row as a JSON object.
    fn to_json(&self) -> Vec<u8> {
        let mut object = Object::with_capacity(ROW_BYTES);
        self.write(&mut object);
        object.finish()
    }

    /// Appends the row as a line of CSV.
    fn write_csv(&self, out: &mut Vec<u8>, dialect: Dialect) {
        let mut line = Line::new(out, dialect);
        self.write(&mut line);
        line.end();
    }
}

//! How resources look on the wire: JSON with exactly the fields of the contract, in its order.

mod qr;

use std::fmt::Display;
use std::io::Write as _;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{Balances, Representation};
use jiff::Timestamp;
use jiff::tz::Offset;

use self::qr::QrImages;

/// Room for a charge without its image: one allocation is enough for nearly all.
const CHARGE_BYTES: usize = 768;

/// Renders resources, and remembers the images of the codes it rendered last.
#[derive(Debug, Default)]
pub struct JsonRepresentation {
    images: QrImages,
}

impl JsonRepresentation {
    /// A renderer with an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Representation for JsonRepresentation {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        let status = charge.state.status();
        let issued = charge.state.issued();
        let settlement = charge.state.settlement();
        // A code that can no longer be paid is history: nobody should scan it.
        let image = issued
            .filter(|_| status == ChargeStatus::Pending)
            .and_then(|issued| self.images.data_url(&issued.copy_paste));
        let room = CHARGE_BYTES.saturating_add(image.as_ref().map_or(0, |image| image.len()));

        let mut object = Object::with_capacity(room);
        object.plain_text("id", &charge.id);
        object.plain_text("txid", &charge.txid);
        object.optional_text(
            "external_id",
            charge.terms.external_id.as_ref().map(cais_domain::external_id::ExternalId::as_str),
        );
        object.money("amount", charge.terms.amount);
        object.plain_text("status", &status.as_str());
        object.optional_text("description", charge.terms.description.as_ref().map(cais_domain::text::Text::as_str));
        object.open("pix");
        object.optional_text("copy_paste", issued.map(|issued| issued.copy_paste.as_str()));
        object.optional_plain("qr_code_image", image.as_deref());
        object.close();
        object.optional_plain("end_to_end_id", settlement.map(|settlement| settlement.end_to_end_id.as_str()));
        object.optional_instant("paid_at", settlement.map(|settlement| settlement.paid_at));
        object.optional_instant("expires_at", issued.map(|issued| issued.expires_at));
        object.optional_instant("created_at", Some(charge.created_at));
        object.finish()
    }
}

/// The parts of an account's money as the balance shows them; what is in transit is in none.
///
/// # Errors
/// [`MoneyError::OutOfRange`] when the total does not fit, which no real balance can reach.
pub fn balance(balances: &Balances) -> Result<Vec<u8>, MoneyError> {
    let total = Money::sum([balances.available, balances.pending, balances.blocked])?;
    let mut object = Object::with_capacity(192);
    object.money("available_balance", balances.available);
    object.money("pending_balance", balances.pending);
    object.money("blocked_balance", balances.blocked);
    object.money("total_balance", total);
    object.plain_text("currency", &"BRL");
    Ok(object.finish())
}

/// A page of a list: its rows, and where the next one begins.
#[must_use]
pub fn page<I: Display>(rows: &[Vec<u8>], next_starting_after: Option<&I>) -> Vec<u8> {
    let length = rows.iter().map(|row| row.len().saturating_add(1)).sum::<usize>();
    let mut body = Vec::with_capacity(length.saturating_add(96));
    body.extend_from_slice(b"{\"data\":[");
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(row);
    }
    let tail: &[u8] = if next_starting_after.is_some() { b"],\"has_more\":true" } else { b"],\"has_more\":false" };
    body.extend_from_slice(tail);
    body.extend_from_slice(b",\"next_starting_after\":");
    match next_starting_after {
        Some(id) => write_quoted(&mut body, id),
        None => body.extend_from_slice(b"null"),
    }
    body.push(b'}');
    body
}

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
fn write_quoted(out: &mut Vec<u8>, value: &dyn Display) {
    out.push(b'"');
    push(out, value);
    out.push(b'"');
}

fn push(out: &mut Vec<u8>, value: &dyn Display) {
    // Writing to memory cannot fail, and no value of ours fails to print.
    write!(out, "{value}").unwrap_or_default();
}

/// Writes a text of the caller's as a JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    serde_json::to_writer(out, text).unwrap_or_default();
}

/// A JSON object that is being written, field by field.
struct Object {
    out: Vec<u8>,
}

impl Object {
    fn with_capacity(bytes: usize) -> Self {
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

    fn open(&mut self, name: &str) {
        self.key(name);
        self.out.push(b'{');
    }

    fn close(&mut self) {
        self.out.push(b'}');
    }

    /// A value of our own making, which needs no escaping.
    fn plain_text(&mut self, name: &str, value: &dyn Display) {
        self.key(name);
        write_quoted(&mut self.out, value);
    }

    fn optional_plain(&mut self, name: &str, value: Option<&str>) {
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

    fn optional_text(&mut self, name: &str, value: Option<&str>) {
        self.key(name);
        match value {
            Some(value) => write_text(&mut self.out, value),
            None => self.null(),
        }
    }

    fn optional_instant(&mut self, name: &str, value: Option<Timestamp>) {
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

    fn money(&mut self, name: &str, value: Money) {
        self.key(name);
        push(&mut self.out, &value);
    }

    fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    fn finish(mut self) -> Vec<u8> {
        self.close();
        self.out
    }
}

#[cfg(test)]
mod tests;

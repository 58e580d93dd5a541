//! CSV lines by RFC 4180: commas, CRLF, quotes where a text needs them. A text that a spreadsheet would execute as a formula is preceded by
//! an apostrophe. A second dialect is for Excel with the settings of Brazilian Portuguese.

use std::fmt::Display;
use std::io::Write as _;

pub use cais_ports::CsvDialect as Dialect;
use serde::Serialize;

use super::values::{Amount, Instant};
use crate::days::sao_paulo;

/// A record that is serialized as JSON or as one CSV line.
pub trait Row: Serialize {
    /// The names of the fields in their order: the first line of a file.
    const NAMES: &'static [&'static str];

    /// Appends every field to `line`, in the order of [`Row::NAMES`].
    fn write(&self, line: &mut Line<'_>);
}

/// Appends `row` as a line.
pub fn write_row(out: &mut Vec<u8>, row: &impl Row, dialect: Dialect) {
    let mut line = Line { out, dialect, begun: false };
    row.write(&mut line);
    line.end();
}

/// Returns the separator of fields.
const fn separator(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Standard => b',',
        Dialect::ExcelBr => b';',
    }
}

/// Returns the rows as lines of CSV. If `is_first`, the line of names precedes them.
pub fn lines<R: Row>(rows: &[R], dialect: Dialect, is_first: bool) -> Vec<u8> {
    let mut out = if is_first { header(R::NAMES, dialect) } else { Vec::new() };
    out.reserve(rows.len().saturating_mul(LINE_BYTES));
    for row in rows {
        write_row(&mut out, row, dialect);
    }
    out
}

/// The mark that identifies a file as UTF-8 for Excel.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// First characters that make a spreadsheet treat a text as a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// The capacity reserved for a line, in bytes.
const LINE_BYTES: usize = 256;
/// The end of a line.
const CRLF: &[u8] = b"\r\n";

/// Returns the first line of a file: the names of the fields. In a file for Excel, the byte order mark precedes them.
#[must_use]
pub fn header(names: &[&str], dialect: Dialect) -> Vec<u8> {
    let mut out = match dialect {
        Dialect::Standard => Vec::new(),
        Dialect::ExcelBr => BYTE_ORDER_MARK.to_vec(),
    };
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            out.push(separator(dialect));
        }
        out.extend_from_slice(name.as_bytes());
    }
    out.extend_from_slice(CRLF);
    out
}

/// A line of a file, field by field.
pub struct Line<'o> {
    out: &'o mut Vec<u8>,
    dialect: Dialect,
    begun: bool,
}

impl Line<'_> {
    /// Appends a value that needs no quotes. `None` becomes an empty field.
    pub fn plain(&mut self, value: Option<&str>) {
        self.separate();
        self.out.extend_from_slice(value.unwrap_or_default().as_bytes());
    }

    /// Appends free text, quoted if needed. `None` becomes an empty field.
    pub fn text(&mut self, value: Option<&str>) {
        self.separate();
        if let Some(text) = value {
            self.quoted_if_needed(text);
        }
    }

    /// Appends an amount.
    pub fn amount(&mut self, Amount(value): Amount) {
        self.separate();
        match self.dialect {
            Dialect::Standard => self.push(&value),
            Dialect::ExcelBr => self.push(&value.to_string().replace('.', ",")),
        }
    }

    /// Appends an instant.
    pub fn instant(&mut self, value: Instant) {
        self.separate();
        match self.dialect {
            Dialect::Standard => self.push(&value),
            Dialect::ExcelBr => self.push(&value.0.to_zoned(sao_paulo()).strftime("%d/%m/%Y %H:%M:%S")),
        }
    }

    fn push(&mut self, value: &dyn Display) {
        // Writing to memory cannot fail.
        write!(self.out, "{value}").unwrap_or_default();
    }

    fn end(self) {
        self.out.extend_from_slice(CRLF);
    }

    fn separate(&mut self) {
        if self.begun {
            self.out.push(separator(self.dialect));
        }
        self.begun = true;
    }

    /// Appends a text, quoted if needed. An empty text is quoted too, so that it differs from an absent value.
    fn quoted_if_needed(&mut self, text: &str) {
        let separator = separator(self.dialect);
        let is_special = |byte| byte == separator || matches!(byte, b'"' | b'\r' | b'\n');
        let apostrophe: &[u8] = if text.starts_with(FORMULA) { b"'" } else { b"" };
        if !text.is_empty() && !text.bytes().any(is_special) {
            self.out.extend_from_slice(apostrophe);
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        self.out.push(b'"');
        self.out.extend_from_slice(apostrophe);
        for byte in text.bytes() {
            if byte == b'"' {
                self.out.push(b'"');
            }
            self.out.push(byte);
        }
        self.out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use cais_domain::money::Money;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn texts_are_quoted_only_if_needed() {
        for (text, expected) in [
            (None, ""),
            (Some(""), "\"\""),
            (Some("plain"), "plain"),
            (Some(" blank "), " blank "),
            (Some("a,b"), "\"a,b\""),
            (Some("two\nlines"), "\"two\nlines\""),
            (Some("two\r\nlines"), "\"two\r\nlines\""),
            (Some("say \"hi\""), "\"say \"\"hi\"\"\""),
            (Some("=1+1"), "'=1+1"),
            (Some("+55"), "'+55"),
            (Some("-1,5"), "\"'-1,5\""),
            (Some("@a"), "'@a"),
            (Some("a=1"), "a=1"),
            (Some("é;'"), "é;'"),
        ] {
            let mut out = Vec::new();
            let mut line = Line { out: &mut out, dialect: Dialect::Standard, begun: false };
            line.text(text);
            line.plain(None);
            line.amount(Amount(Money::from_centavos(-5)));
            line.end();
            assert_eq!(String::from_utf8(out), Ok(format!("{expected},,-0.05\r\n")), "{text:?}");
        }
        assert_eq!(header(&["a", "b"], Dialect::Standard), b"a,b\r\n");
    }

    #[test]
    fn excel_dialect_has_mark_semicolons_commas_and_local_time() {
        let mut out = header(&["a", "b"], Dialect::ExcelBr);
        let mut line = Line { out: &mut out, dialect: Dialect::ExcelBr, begun: false };
        line.text(Some("x,y"));
        line.text(Some("x;=y"));
        line.text(Some("=1"));
        line.plain(None);
        line.amount(Amount(Money::from_centavos(-123_405)));
        line.instant(Instant("2026-01-02T02:03:04.567Z".parse().unwrap_or(Timestamp::MIN)));
        line.end();
        let expected = "\u{feff}a;b\r\nx,y;\"x;=y\";'=1;;-1234,05;01/01/2026 23:03:04\r\n";
        assert_eq!(String::from_utf8(out), Ok(expected.to_owned()));
    }
}

//! Lines of CSV as RFC 4180 has them: commas, CRLF, quotes where a text needs them. Texts are passed on as they are: one that
//! begins with `=` or `+` is the merchant's own, and whoever opens the file in a spreadsheet decides what to make of it.

use std::fmt::Display;

use cais_domain::money::Money;
use jiff::Timestamp;

use super::object::{push, write_instant};
use super::row::Sink;

/// What ends a line.
const CRLF: &[u8] = b"\r\n";

/// The first line of a file.
#[must_use]
pub fn header(names: &[&str]) -> Vec<u8> {
    let mut out = names.join(",").into_bytes();
    out.extend_from_slice(CRLF);
    out
}

/// A line that is being written.
pub(super) struct Line<'o> {
    out: &'o mut Vec<u8>,
    begun: bool,
}

impl<'o> Line<'o> {
    /// A line without fields, after what is there.
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, begun: false }
    }

    /// Ends it.
    pub(super) fn end(self) {
        self.out.extend_from_slice(CRLF);
    }

    fn separate(&mut self) {
        if self.begun {
            self.out.push(b',');
        }
        self.begun = true;
    }

    /// A text, in quotes where it would not be read back otherwise; an empty one too, so that it differs from nothing.
    fn quoted_if_needed(&mut self, text: &str) {
        let needs_quotes = text.is_empty() || text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n'));
        if !needs_quotes {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        self.out.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                self.out.push(b'"');
            }
            self.out.push(byte);
        }
        self.out.push(b'"');
    }
}

impl Sink for Line<'_> {
    fn plain(&mut self, _: &'static str, value: Option<&dyn Display>) {
        self.separate();
        if let Some(value) = value {
            push(self.out, value);
        }
    }

    fn text(&mut self, _: &'static str, value: Option<&str>) {
        self.separate();
        if let Some(text) = value {
            self.quoted_if_needed(text);
        }
    }

    fn money(&mut self, _: &'static str, value: Money) {
        self.separate();
        push(self.out, &value);
    }

    fn instant(&mut self, _: &'static str, value: Timestamp) {
        self.separate();
        write_instant(self.out, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_need_it() {
        for (text, expected) in [
            (None, ""),
            (Some(""), "\"\""),
            (Some("plain"), "plain"),
            (Some(" blank "), " blank "),
            (Some("a,b"), "\"a,b\""),
            (Some("two\nlines"), "\"two\nlines\""),
            (Some("two\r\nlines"), "\"two\r\nlines\""),
            (Some("say \"hi\""), "\"say \"\"hi\"\"\""),
            (Some("=1+1"), "=1+1"),
            (Some("é;'"), "é;'"),
        ] {
            let mut out = Vec::new();
            let mut line = Line::new(&mut out);
            line.text("a", text);
            line.plain("b", None);
            line.money("c", Money::from_centavos(-5));
            line.end();
            assert_eq!(String::from_utf8(out), Ok(format!("{expected},,-0.05\r\n")), "{text:?}");
        }
        assert_eq!(header(&["a", "b"]), b"a,b\r\n");
    }
}

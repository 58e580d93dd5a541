//! The output of a command: JSON for programs, tables and lines for people.

use std::io::{self, Write};

pub use cais_http_api::resources::operator::{amount, instant};
use serde_json::Value;

/// The output format of a command.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// `true` for JSON; `false` for text.
    pub json: bool,
}

impl Output {
    /// Prints `value` if JSON is selected, otherwise the text that `people` returns. A closed pipe is not an error.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(self, value: &Value, people: impl FnOnce() -> String) -> io::Result<()> {
        let text = if self.json { value.to_string() } else { people() };
        print_line(&text)
    }
}

/// Prints a text and one line break. A closed pipe is not an error.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_line(text: &str) -> io::Result<()> {
    print_while_read(text).map(|_is_read| ())
}

/// Prints a text and one line break. Returns `false` if the pipe is closed, so that a command with more output can end.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_while_read(text: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true),
    }
}

/// Aligns columns under their headings. Each column is as wide as its widest cell.
#[must_use]
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(headings.get(column).map(|heading| heading.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells.zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut headings.iter().copied())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// Formats one name and its value per line.
#[must_use]
pub fn fields(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        rows.iter().map(|(name, value)| format!("{name:width$}  {value}").trim_end().to_owned()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use cais_domain::money::Money;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn columns_align_without_trailing_blanks() {
        let rows = [vec!["a".to_owned(), "ção".to_owned()], vec!["abc".to_owned(), String::new()]];
        assert_eq!(table(&["N", "VALUE"], &rows), "N    VALUE\na    ção\nabc");
        assert_eq!(fields(&[("id", "1".to_owned()), ("name", "x".to_owned())]), "id    1\nname  x");
    }

    #[test]
    fn amounts_keep_their_two_decimals() {
        assert_eq!(amount(Money::from_centavos(1050)).to_string(), "10.50");
        assert_eq!(instant(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}

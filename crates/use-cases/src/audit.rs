//! The audit log. Each change by a person has one row, which is written in the commit of the change.

use std::fmt::{self, Display, Write as _};

use cais_domain::ids::{AccountId, AuditId};
use cais_domain::money::Money;
use cais_ports::{Actor, AuditFilter, AuditRow, Page, PageRequest, QueryError, Write};
use jiff::Timestamp;

use crate::Ports;

/// A person's change of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedChange {
    /// The name of the action, for example `account.suspend`.
    pub action: &'static str,
    /// The identifier of the changed record. Usually this is its public id. Exceptions: the prefix of an API key, the
    /// name of an acquirer, the code of a currency, and the processor's id of a payment.
    pub subject: String,
    /// The account that the change concerns. `None` if the change concerns no single account.
    pub account: Option<AccountId>,
    /// The record before the change, as JSON without secrets. `None` for a new record, and for a change of secrets
    /// alone.
    pub before: Option<Vec<u8>>,
    /// The record after the change, as JSON without secrets. `None` for a deleted record, and for a change of secrets
    /// alone.
    pub after: Option<Vec<u8>>,
}

/// Returns the write of the audit row. The caller must add this write to the change set that makes the change.
#[must_use]
pub fn record(ports: &Ports, actor: &Actor, at: Timestamp, change: AuditedChange) -> Write {
    let text = |json: Vec<u8>| String::from_utf8_lossy(&json).into_owned();
    Write::insert(AuditRow {
        id: AuditId::new(ports.ids.next_uuid()),
        at,
        operator: actor.clone(),
        action: change.action.to_owned(),
        subject: change.subject,
        account: change.account,
        before: change.before.map(text),
        after: change.after.map(text),
    })
}

/// The fields of a record for an audit row, as JSON. Each text is escaped, so a value cannot add a field.
#[derive(Debug, Default)]
pub(crate) struct Fields(String);

impl Fields {
    /// Returns an object without fields.
    pub(crate) const fn new() -> Self {
        Self(String::new())
    }

    /// Adds a text.
    pub(crate) fn text(self, name: &'static str, value: impl Display) -> Self {
        let value = escaped(&value.to_string());
        self.with(name, format_args!("\"{value}\""))
    }

    /// Adds a text. Adds no field for `None`.
    pub(crate) fn optional_text(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a text, or `null` for `None`.
    pub(crate) fn nullable_text(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.with(name, format_args!("null")),
        }
    }

    /// Adds an amount, a number with two decimals.
    pub(crate) fn money(self, name: &'static str, value: Money) -> Self {
        self.with(name, format_args!("{value}"))
    }

    /// Adds a number.
    pub(crate) fn number(self, name: &'static str, value: u32) -> Self {
        self.with(name, format_args!("{value}"))
    }

    /// Adds `true` or `false`.
    pub(crate) fn flag(self, name: &'static str, value: bool) -> Self {
        self.with(name, format_args!("{value}"))
    }

    /// Returns the fields as a JSON object.
    pub(crate) fn into_json(self) -> Vec<u8> {
        format!("{{{}}}", self.0).into_bytes()
    }

    fn with(self, name: &'static str, value: fmt::Arguments<'_>) -> Self {
        let comma = if self.0.is_empty() { "" } else { "," };
        Self(format!(r#"{}{comma}"{name}":{value}"#, self.0))
    }
}

/// Escapes a text for JSON (RFC 8259, section 7).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str(r"\\"),
            '"' => escaped.push_str(r#"\""#),
            '\n' => escaped.push_str(r"\n"),
            '\r' => escaped.push_str(r"\r"),
            '\0'..' ' => {
                // Writing to memory cannot fail.
                let _written = write!(escaped, "\\u{:04x}", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Returns one page of the audit rows that the filter selects. The newest come first.
///
/// # Errors
/// [`QueryError`].
pub async fn list(
    ports: &Ports,
    filter: AuditFilter,
    page: PageRequest<AuditId>,
) -> Result<Page<AuditRow>, QueryError> {
    ports.queries.list_audit(filter, page).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_fields_are_json_with_escaped_texts() {
        let fields = Fields::new()
            .text("status", "lost")
            .money("returned", Money::from_centavos(1_050))
            .number("attempts", 3)
            .flag("review", true)
            .nullable_text("payment", None::<&str>)
            .optional_text("hash", None::<&str>)
            .optional_text("note", Some("a \"b\", \\\r\n\tç"));
        assert_eq!(
            String::from_utf8_lossy(&fields.into_json()),
            concat!(
                r#"{"status":"lost","returned":10.50,"attempts":3,"review":true,"payment":null,"#,
                r#""note":"a \"b\", \\\r\n\u0009ç"}"#
            )
        );
        assert_eq!(Fields::new().into_json(), b"{}");
    }
}

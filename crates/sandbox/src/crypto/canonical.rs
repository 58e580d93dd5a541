//! Canonical JSON: keys sorted at every level, no spaces, numbers as JavaScript prints them (RFC 8785).

use cais_domain::hex;
use ring::hmac;
use serde_json::Value;

use super::amount::Amount;

/// Returns the canonical text of a value. Numbers keep all their digits, so a caller must not give more digits than a
/// JavaScript number has.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            // RFC 8785 sorts by UTF-16 code units.
            names.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
            list(text, ['{', '}'], names, |name, text| {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(fields.get(name).unwrap_or(&Value::Null), text);
            });
        }
        Value::Array(items) => list(text, ['[', ']'], items, write),
        Value::Number(number) => {
            let number = number.to_string();
            let (sign, magnitude) = number.strip_prefix('-').map_or(("", number.as_str()), |rest| ("-", rest));
            text.push_str(sign);
            text.push_str(&Amount::parse(magnitude).map_or_else(|| magnitude.to_owned(), |amount| amount.javascript()));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

fn list<T>(
    text: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut String),
) {
    text.push(open);
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        write(item, text);
    }
    text.push(close);
}

/// Returns the signature of a notification: HMAC-SHA512 over the canonical text, as 128 hexadecimal digits.
#[must_use]
pub fn signature(secret: &str, canonical: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA512, secret.trim().as_bytes());
    hex::encode(hmac::sign(&key, canonical.as_bytes()).as_ref())
}

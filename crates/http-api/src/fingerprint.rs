//! The fingerprint of a request: method, path and the content of the body, independent of the body's formatting.

use cais_ports::Fingerprint;
use cais_strict_json::{Node, Number};
use ring::digest::{Context, SHA256};

/// Returns the SHA-256 of method, path and canonical body: sorted keys, no blanks, numbers by value, minimal escapes.
#[must_use]
pub fn fingerprint(method: &str, path: &str, body: &Node<'_>) -> Fingerprint {
    let mut text = Vec::with_capacity(512);
    write_canonical(&mut text, body);
    let mut context = Context::new(&SHA256);
    // Method and path cannot contain a line break, so two different requests never result in the same bytes.
    for part in [method.as_bytes(), b"\n", path.as_bytes(), b"\n", &text] {
        context.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    Fingerprint(digest)
}

fn write_canonical(out: &mut Vec<u8>, node: &Node<'_>) {
    match node {
        Node::Null | Node::Unreadable => out.extend_from_slice(b"null"),
        Node::Bool(true) => out.extend_from_slice(b"true"),
        Node::Bool(false) => out.extend_from_slice(b"false"),
        Node::Number(text) => out.extend_from_slice(Number::of(text).to_string().as_bytes()),
        Node::Text(text) => write_text(out, text),
        Node::List(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                write_canonical(out, item);
            }
            out.push(b']');
        }
        Node::Object(members) => {
            // `null` for an optional field counts as absent, so a field with `null` is left out here.
            let mut sorted: Vec<_> = members.iter().filter(|(_, value)| !matches!(value, Node::Null)).collect();
            sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
            out.push(b'{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                separate(out, index);
                write_text(out, name);
                out.push(b':');
                write_canonical(out, value);
            }
            out.push(b'}');
        }
    }
}

/// Writes a JSON string.
fn write_text(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    serde_json::to_writer(out, text).unwrap_or_default();
}

fn separate(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cais_strict_json::Issues;
    use cais_strict_json::read;

    fn of(method: &str, path: &str, body: &str) -> Fingerprint {
        let issues = Issues::default();
        let node = read(body.as_bytes(), &issues);
        assert!(issues.is_empty(), "{body}: {issues:?}");
        fingerprint(method, path, &node)
    }

    #[test]
    fn fingerprint_ignores_spelling() {
        let first = of("POST", "/v1/charges", r#"{"amount":10,"description":"café","split":[{"percentage":1.5}]}"#);
        for same in [
            r#"{"amount":10.0,"description":"café","split":[{"percentage":1.5}]}"#,
            r#"{"amount":10,"external_id":null,"description":"café","split":[{"percentage":1.5}]}"#,
            r#" { "split" : [ { "percentage" : 15e-1 } ] , "description" : "caf\u00e9", "amount" : 1e1 } "#,
        ] {
            assert!(of("POST", "/v1/charges", same) == first, "{same}");
        }
    }

    #[test]
    fn fingerprint_differs_with_meaning() {
        let first = of("POST", "/v1/charges", r#"{"amount":10,"list":[1,2]}"#);
        for other in [
            of("PUT", "/v1/charges", r#"{"amount":10,"list":[1,2]}"#),
            of("POST", "/v1/payouts", r#"{"amount":10,"list":[1,2]}"#),
            of("POST", "/v1/charges", r#"{"amount":10.01,"list":[1,2]}"#),
            of("POST", "/v1/charges", r#"{"amount":"10","list":[1,2]}"#),
            of("POST", "/v1/charges", r#"{"amount":10,"list":[2,1]}"#),
            of("POST", "/v1/charges", r#"{"amount":10,"list":[1,2],"description":""}"#),
        ] {
            assert!(other != first);
        }
    }
}

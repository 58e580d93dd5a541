//! Reads single texts from the JSON of resources and events, which this service rendered.

use cais_strict_json::{Issues, Node, read};

/// Returns a string or a number of a JSON object as text; `None` if the member is missing or has another type.
pub(crate) fn member(json: &[u8], name: &str) -> Option<String> {
    let Node::Object(members) = read(json, &Issues::default()) else { return None };
    let value = members.into_iter().find(|(member, _)| member == name).map(|(_, value)| value);
    match value? {
        Node::Text(text) => Some(text.into_owned()),
        Node::Number(text) => Some(text.to_owned()),
        Node::Null | Node::Bool(_) | Node::List(_) | Node::Object(_) | Node::Unreadable => None,
    }
}

//! Rules for JSON types: numbers, strings, booleans, arrays.

use std::ops::RangeInclusive;

use super::{Node, Number, Problem};

/// Returns the text of a number.
///
/// # Errors
/// The value is not a number.
pub fn number<'n>(node: &'n Node<'_>) -> Result<&'n str, Problem> {
    match node {
        Node::Number(text) => Ok(text),
        Node::Null | Node::Bool(_) | Node::Text(_) | Node::List(_) | Node::Object(_) | Node::Unreadable => {
            Err("must be a number".into())
        }
    }
}

/// Returns a string as sent.
///
/// # Errors
/// The value is not a string.
pub fn string<'n>(node: &'n Node<'_>) -> Result<&'n str, Problem> {
    match node {
        Node::Text(text) => Ok(text),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) | Node::Object(_) | Node::Unreadable => {
            Err("must be a string".into())
        }
    }
}

/// Returns the value of a boolean.
///
/// # Errors
/// The value is not a boolean.
pub fn flag(node: &Node<'_>) -> Result<bool, Problem> {
    match node {
        Node::Bool(flag) => Ok(*flag),
        Node::Null | Node::Number(_) | Node::Text(_) | Node::List(_) | Node::Object(_) | Node::Unreadable => {
            Err("must be true or false".into())
        }
    }
}

/// Returns the items of an array of at most `max` items.
///
/// # Errors
/// The value is not an array, or has more items.
pub fn list<'n, 'a>(node: &'n Node<'a>, max: usize) -> Result<&'n [Node<'a>], Problem> {
    match node {
        Node::List(items) if items.len() <= max => Ok(items),
        Node::List(_) => Err(format!("must have at most {max} items").into()),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Object(_) | Node::Unreadable => {
            Err("must be an array".into())
        }
    }
}

/// Returns an integer within bounds, judged by value: `3600.0` is valid.
///
/// # Errors
/// The value is not an integer, or is out of bounds.
pub fn integer(node: &Node<'_>, bounds: &RangeInclusive<i64>) -> Result<i64, Problem> {
    let problem = || Problem::from(format!("must be an integer from {} to {}", bounds.start(), bounds.end()));
    let value = number(node).ok().and_then(|text| Number::of(text).to_i64()).ok_or_else(problem)?;
    if bounds.contains(&value) { Ok(value) } else { Err(problem()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<i64, Problem>) -> String {
        result.map_or_else(Problem::into_owned, |_| "fine".to_owned())
    }

    #[test]
    fn integers_are_accepted_by_value_within_bounds() {
        for (text, expected) in [
            ("60", "fine"),
            ("60.0", "fine"),
            ("59", "must be an integer from 60 to 86400"),
            ("86401", "must be an integer from 60 to 86400"),
            ("60.5", "must be an integer from 60 to 86400"),
        ] {
            assert_eq!(message(integer(&Node::Number(text), &(60..=86_400))), expected, "{text}");
        }
        assert_eq!(message(integer(&Node::Text("60".into()), &(60..=86_400))), "must be an integer from 60 to 86400");
    }
}

//! A strict reader of JSON bodies: every problem at once, duplicate keys at any depth, numbers as they were written.

pub mod fields;
pub mod number;
pub mod read;
pub mod rules;

use std::borrow::Cow;

/// A JSON value that keeps what the caller wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number's text.
    Number(&'a str),
    /// A string, its escapes resolved.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Node<'a>>),
    /// An object's members in their order; a repeated name stands here once.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    /// Something whose problem is already reported.
    Unreadable,
}

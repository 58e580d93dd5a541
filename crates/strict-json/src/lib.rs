//! A JSON reader that loses nothing of what was written and reports everything that is wrong with it.
//!
//! Numbers stay text, so an amount never becomes a float. A key that stands twice in an object is a problem, at any depth.
//! [`read()`] returns a tree of [`Node`]s and [`Fields`] takes an object apart; both add each problem with its path to [`Issues`],
//! so a caller learns of all problems at once. Depth, members of an object and reported problems are limited.

mod fields;
mod issue;
mod number;
mod read;
pub mod rules;

use std::borrow::Cow;

pub use fields::{Complaint, Fields};
pub use issue::{Issue, Issues};
pub use number::Number;
pub use read::read;

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

//! A JSON reader that preserves the text of values and reports every problem.
//!
//! Numbers stay text, so an amount never becomes a float. A repeated key in an object is a problem at any depth.
//! [`read()`] returns a tree of [`Node`]s, and [`Fields`] reads an object. Both add each problem with its path to
//! [`Issues`], so all problems are reported together. Depth, members of an object and reported problems are limited.

mod fields;
mod issue;
mod number;
mod read;
pub mod rules;

use std::borrow::Cow;

pub use fields::{Fields, Problem};
pub use issue::{Issue, Issues};
pub use number::Number;
pub use read::read;

/// A JSON value that preserves the caller's text.
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
    /// The members of an object in their order. A repeated name appears once.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    /// A value whose problem is already reported.
    Unreadable,
}

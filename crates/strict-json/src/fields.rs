//! The fields of an object. Known fields are read, and every other field is reported.

use std::borrow::Cow;

use super::read::child;
use super::{Issues, Node};

/// The message for a value that breaks a rule, without the path: `must be a number`.
pub type Problem = Cow<'static, str>;

/// An object whose fields are being read.
pub struct Fields<'n, 'a> {
    path: &'n str,
    members: &'n [(Cow<'a, str>, Node<'a>)],
    known: Vec<&'static str>,
    issues: &'n Issues,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// Returns the fields of the object at `path`. If the value is not an object, reports it and returns `None`.
    pub fn of(node: &'n Node<'a>, path: &'n str, issues: &'n Issues) -> Option<Self> {
        match node {
            Node::Object(members) => Some(Self { path, members, known: Vec::with_capacity(members.len()), issues }),
            Node::Unreadable => None,
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
                issues.add(path, "must be a JSON object");
                None
            }
        }
    }

    /// Returns the field's value as sent; `null` counts as absent.
    pub fn take(&mut self, name: &'static str) -> Option<&'n Node<'a>> {
        self.known.push(name);
        self.members.iter().find(|(known, _)| known == name).map(|(_, node)| node).filter(|node| **node != Node::Null)
    }

    /// Returns an optional field. If the field is present but breaks `rule`, reports it and returns `None`.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(&'n Node<'a>) -> Result<T, Problem>,
    ) -> Option<T> {
        let node = self.take(name)?;
        self.judge(name, node, rule)
    }

    /// Returns a required field. If the field is absent or breaks `rule`, reports it and returns `None`.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(&'n Node<'a>) -> Result<T, Problem>,
    ) -> Option<T> {
        let Some(node) = self.take(name) else {
            self.report(name, "is required");
            return None;
        };
        self.judge(name, node, rule)
    }

    /// Reports a problem of a field.
    pub fn report(&self, name: &str, problem: impl Into<Problem>) {
        self.issues.add(&child(self.path, name), problem);
    }

    /// Reports every field that no call has read. Such a field is unknown.
    pub fn finish(self) {
        for (name, _) in self.members.iter().filter(|(name, _)| !self.known.iter().any(|known| known == name)) {
            self.report(name, "is not a known field");
        }
    }

    fn judge<T>(
        &self,
        name: &str,
        node: &'n Node<'a>,
        rule: impl FnOnce(&'n Node<'a>) -> Result<T, Problem>,
    ) -> Option<T> {
        if *node == Node::Unreadable {
            return None;
        }
        rule(node).map_err(|problem| self.report(name, problem)).ok()
    }
}

//! Reads bytes into a tree of values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Issues, Node};

/// The largest depth of nested arrays and objects. The deepest valid request body of the API has three levels.
const MAX_DEPTH: u32 = 8;

/// The largest number of members of an object. The largest valid object of the API has ten members. Each name is
/// compared with all earlier names. So without a limit, the time would grow with the square of the body's length.
const MAX_MEMBERS: usize = 64;

/// Reads a body. Problems are added to `issues`. A value that cannot be read becomes [`Node::Unreadable`]. Of members
/// with the same name, only the first is kept; each of the others is a problem.
pub fn read<'a>(body: &'a [u8], issues: &Issues) -> Node<'a> {
    if body.is_empty() {
        issues.add("", "must be a JSON object, and is empty");
        return Node::Unreadable;
    }
    let Ok(text) = str::from_utf8(body) else {
        issues.add("", "is not valid UTF-8");
        return Node::Unreadable;
    };
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => Builder { issues }.node(raw.get(), "", MAX_DEPTH),
        Err(error) => {
            issues.add("", format!("is not valid JSON (line {}, column {})", error.line(), error.column()));
            Node::Unreadable
        }
    }
}

/// A string that borrows from the body unless it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object in their order, including repeated names. At most `MAX_MEMBERS + 1` members are stored,
/// enough to detect an object above the limit.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while members.len() <= MAX_MEMBERS
            && let Some((Text(name), value)) = map.next_entry()?
        {
            members.push((name, value));
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Members(members))
    }
}

struct Builder<'i> {
    issues: &'i Issues,
}

impl Builder<'_> {
    /// Returns the value of `raw`, a JSON value without surrounding blanks.
    fn node<'a>(&self, raw: &'a str, path: &str, depth: u32) -> Node<'a> {
        match raw.as_bytes().first() {
            Some(b'n') => Node::Null,
            Some(b't') => Node::Bool(true),
            Some(b'f') => Node::Bool(false),
            Some(b'"') => {
                serde_json::from_str(raw).map_or_else(|_| self.broken_text(path), |Text(text)| Node::Text(text))
            }
            Some(b'[' | b'{') if depth == 0 => {
                self.issues.add(path, "is nested too deeply");
                Node::Unreadable
            }
            Some(b'[') => self.list(raw, path, depth.saturating_sub(1)),
            Some(b'{') => self.object(raw, path, depth.saturating_sub(1)),
            _ => Node::Number(raw),
        }
    }

    fn list<'a>(&self, raw: &'a str, path: &str, depth: u32) -> Node<'a> {
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(raw) else {
            return self.broken_text(path);
        };
        let items = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| self.node(item.get(), &format!("{path}[{index}]"), depth));
        Node::List(items.collect())
    }

    fn object<'a>(&self, raw: &'a str, path: &str, depth: u32) -> Node<'a> {
        let Ok(Members(members)) = serde_json::from_str(raw) else {
            return self.broken_text(path);
        };
        if members.len() > MAX_MEMBERS {
            self.issues.add(path, format!("has more than {MAX_MEMBERS} members"));
            return Node::Unreadable;
        }
        let mut kept: Vec<(Cow<'a, str>, Node<'a>)> = Vec::with_capacity(members.len());
        for (name, value) in members {
            let member_path = child(path, &name);
            if kept.iter().any(|(known, _)| *known == name) {
                self.issues.add(&member_path, "is given more than once");
            } else {
                let node = self.node(value.get(), &member_path, depth);
                kept.push((name, node));
            }
        }
        Node::Object(kept)
    }

    /// Reports invalid text. The syntax was checked before, so the only possible problem is an unpaired surrogate
    /// escape.
    fn broken_text<'a>(&self, path: &str) -> Node<'a> {
        self.issues.add(path, "has an escape that is not a character");
        Node::Unreadable
    }
}

/// Returns the path of a member.
#[must_use]
pub fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests;

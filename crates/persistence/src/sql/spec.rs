//! Declares the writes to tables. Each declaration yields the statements of both engines.
//!
//! PostgreSQL receives all rows of a batch at once, as one array per column. SQLite receives one row at a time, because it has no server
//! and so no round trip.

use std::fmt::Write as _;
use std::sync::OnceLock;

use super::table::Row;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `TEXT`.
    Text,
    /// A 64-bit integer.
    Int,
    /// Bytes.
    Bytes,
}

impl Kind {
    /// Returns the expression for the rows of a column that is bound as an array.
    const fn unnested(self) -> &'static str {
        match self {
            Self::Text => "unnest(?::text[])",
            Self::Int => "unnest(?::bigint[])",
            Self::Bytes => "unnest(?::bytea[])",
        }
    }
}

/// The name and type of a column.
pub(crate) type Column = (&'static str, Kind);

/// The action on the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Insert; an existing row is an error.
    Insert,
    /// Insert; an existing row stays unchanged and is not counted.
    InsertUnlessThere,
    /// Update; a missing row is not counted.
    Update,
    /// Delete.
    Delete,
}

/// A statement for the rows of one table. A row's values come in this order: `sets`, then `keys`.
#[derive(Debug)]
pub(crate) struct Spec {
    action: Action,
    table: &'static str,
    sets: &'static [Column],
    keys: &'static [Column],
    /// The column of `sets` that keeps its stored value if the new value is null; empty for none.
    keep: &'static str,
    /// A condition on the stored row besides `keys`.
    only_if: &'static str,
    /// Further assignments to every row besides `sets`, as SQL.
    also: &'static str,
    set_based: OnceLock<[String; 2]>,
    single: OnceLock<String>,
}

impl Spec {
    const fn new(action: Action, table: &'static str, sets: &'static [Column], keys: &'static [Column]) -> Self {
        Self {
            action,
            table,
            sets,
            keys,
            keep: "",
            only_if: "",
            also: "",
            set_based: OnceLock::new(),
            single: OnceLock::new(),
        }
    }

    /// Creates an insert.
    pub(crate) const fn insert(table: &'static str, columns: &'static [Column]) -> Self {
        Self::new(Action::Insert, table, columns, &[])
    }

    /// Creates an insert of all columns.
    pub(crate) const fn insert_rows<R: Row<'static>>() -> Self {
        Self::insert(R::TABLE, R::COLUMNS)
    }

    /// Creates an update of all changing columns of rows, found by key and by the version that was read.
    pub(crate) const fn update_rows<R: Row<'static>>() -> Self {
        Self::update(R::TABLE, R::COLUMNS.split_at(R::FIXED).1, R::READ)
    }

    /// Creates an insert that skips existing rows.
    pub(crate) const fn insert_unless_there(table: &'static str, columns: &'static [Column]) -> Self {
        Self::new(Action::InsertUnlessThere, table, columns, &[])
    }

    /// Creates an update of rows, found by `keys`. The keys of a row with a version or a fence include the one that was read.
    pub(crate) const fn update(table: &'static str, sets: &'static [Column], keys: &'static [Column]) -> Self {
        Self::new(Action::Update, table, sets, keys)
    }

    /// Creates a delete.
    pub(crate) const fn delete(table: &'static str, keys: &'static [Column]) -> Self {
        Self::new(Action::Delete, table, &[], keys)
    }

    /// Adds a column that keeps its stored value if the new value is null.
    pub(crate) const fn keeping(mut self, column: &'static str) -> Self {
        self.keep = column;
        self
    }

    /// Adds a condition on the stored row.
    pub(crate) const fn only_if(mut self, condition: &'static str) -> Self {
        self.only_if = condition;
        self
    }

    /// Adds an assignment to every row of an update.
    pub(crate) const fn also(mut self, assignments: &'static str) -> Self {
        self.also = assignments;
        self
    }

    /// Returns whether the statement deletes rows.
    pub(crate) fn removes(&self) -> bool {
        self.action == Action::Delete
    }

    /// Returns the columns of a row, in the order of its values.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        self.sets.iter().chain(self.keys).copied()
    }

    /// Returns the statement for many rows, one array per column (PostgreSQL). If `optimistic`, an existing row is an error for every kind
    /// of insert, because an insert without a check is a quarter cheaper.
    pub(crate) fn set_based(&self, optimistic: bool) -> &str {
        let [pessimistic_text, optimistic_text] =
            self.set_based.get_or_init(|| [self.write_set_based(false), self.write_set_based(true)]);
        if optimistic { optimistic_text } else { pessimistic_text }
    }

    /// Returns the statement for one row (SQLite).
    pub(crate) fn single(&self) -> &str {
        self.single.get_or_init(|| self.write_single())
    }

    /// Returns the statement for many rows. Its arrays stand in a select list, where arrays of equal length advance together and are read
    /// in place. In FROM, the server would first copy each array.
    fn write_set_based(&self, optimistic: bool) -> String {
        let table = self.table;
        let first = self.keys.first().map_or("", |(name, _)| *name);
        let matched = self.conditions(|name| same_as(&format!("t.{name}"), &format!("u.k_{name}"), name == first));
        let sets = self.sets.iter().map(|(name, kind)| format!("{} AS s_{name}", kind.unnested()));
        let keys = self.keys.iter().map(|(name, kind)| format!("{} AS k_{name}", kind.unnested()));
        let source = format!("(SELECT {}) AS u", join(", ", sets.chain(keys)));
        match self.action {
            Action::Insert | Action::InsertUnlessThere => {
                let names = self.list(", ", |(name, _)| name.to_owned());
                let values = self.list(", ", |(_, kind)| kind.unnested().to_owned());
                let mut text = format!("INSERT INTO {table} ({names}) SELECT {values}");
                if self.action == Action::InsertUnlessThere && !optimistic {
                    text.push_str(" ON CONFLICT DO NOTHING");
                }
                text
            }
            Action::Update => {
                let sets =
                    self.assignments(|name| format!("u.s_{name}"), |name| format!("COALESCE(u.s_{name}, t.{name})"));
                format!("UPDATE {table} AS t SET {sets} FROM {source} WHERE {matched}")
            }
            Action::Delete => format!("DELETE FROM {table} AS t USING {source} WHERE {matched}"),
        }
    }

    fn write_single(&self) -> String {
        let table = self.table;
        let matched = self.conditions(|name| format!("{name} = ?"));
        match self.action {
            Action::Insert | Action::InsertUnlessThere => {
                let names = self.list(", ", |(name, _)| name.to_owned());
                let values = self.list(", ", |_| "?".to_owned());
                let mut text = format!("INSERT INTO {table} ({names}) VALUES ({values})");
                if self.action == Action::InsertUnlessThere {
                    text.push_str(" ON CONFLICT DO NOTHING");
                }
                text
            }
            Action::Update => {
                let sets = self.assignments(|_| "?".to_owned(), |name| format!("COALESCE(?, {name})"));
                format!("UPDATE {table} SET {sets} WHERE {matched}")
            }
            Action::Delete => format!("DELETE FROM {table} WHERE {matched}"),
        }
    }

    fn list(&self, separator: &str, text: impl Fn(Column) -> String) -> String {
        join(separator, self.columns().map(text))
    }

    fn assignments(&self, value: impl Fn(&str) -> String, kept: impl Fn(&str) -> String) -> String {
        let sets = self.sets.iter().map(|(name, _)| {
            let right = if *name == self.keep { kept(name) } else { value(name) };
            format!("{name} = {right}")
        });
        let also = (!self.also.is_empty()).then(|| self.also.to_owned());
        join(", ", sets.chain(also))
    }

    fn conditions(&self, condition: impl Fn(&str) -> String) -> String {
        let mut text = join(" AND ", self.keys.iter().map(|(name, _)| condition(name)));
        if !self.only_if.is_empty() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, " AND {}", self.only_if);
        }
        text
    }
}

/// Returns the condition that a column equals an array's element (PostgreSQL).
///
/// The first column of a key is compared with a list of one element. An equality would allow a merge join along the whole index. While the
/// table is empty, a merge join is the cheapest plan, and the plan stays in use for seconds while the table grows.
pub(crate) fn same_as(column: &str, element: &str, is_first: bool) -> String {
    if is_first { format!("{column} = ANY(ARRAY[{element}])") } else { format!("{column} = {element}") }
}

fn join(separator: &str, parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Spec};

    #[test]
    fn spec_yields_a_statement_for_each_engine() {
        let update = Spec::update("t", &[("a", Kind::Int), ("b", Kind::Text)], &[("id", Kind::Text)])
            .keeping("b")
            .also("d = NULL")
            .only_if("c IS NULL");
        assert_eq!(update.single(), "UPDATE t SET a = ?, b = COALESCE(?, b), d = NULL WHERE id = ? AND c IS NULL");
        assert_eq!(
            update.set_based(false),
            "UPDATE t AS t SET a = u.s_a, b = COALESCE(u.s_b, t.b), d = NULL \
             FROM (SELECT unnest(?::bigint[]) AS s_a, unnest(?::text[]) AS s_b, unnest(?::text[]) AS k_id) AS u \
             WHERE t.id = ANY(ARRAY[u.k_id]) AND c IS NULL"
        );
        assert_eq!(update.set_based(true), update.set_based(false));
    }

    #[test]
    fn insert_unless_there_keeps_existing_rows() {
        let insert = Spec::insert_unless_there("t", &[("a", Kind::Int), ("b", Kind::Bytes)]);
        assert_eq!(insert.single(), "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING");
        let optimistic = "INSERT INTO t (a, b) SELECT unnest(?::bigint[]), unnest(?::bytea[])";
        assert_eq!(insert.set_based(false), format!("{optimistic} ON CONFLICT DO NOTHING"));
        assert_eq!(insert.set_based(true), optimistic);
    }
}

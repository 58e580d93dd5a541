//! The differences between the engines: connections, the beginning of a transaction, the number of rows per statement, and locks. Also
//! contains the search for rows by key.

use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::committer::Op;
use crate::error::Fault;
use crate::sql::spec::same_as;
use crate::sql::table::{Row, names};
use crate::sql::{Loaded, Query, Session};

/// The keys of the requested rows, as texts, in the order of [`Lookup::keys`].
pub(crate) type Keys = Vec<Vec<String>>;

/// The time for which a lane's statements wait for a lock before they fail with [`Fault::Locked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockWait {
    /// A wait that is longer than a usual batch of another node.
    Batch,
    /// A very short wait, only to detect whether a lock was released.
    Probe,
}

/// A database engine.
pub(crate) trait Engine: Send + Sync {
    /// Opens a connection that writes.
    fn connect_writer(&self) -> Result<Box<dyn Session>, Fault>;

    /// Opens a connection of a commit lane, which waits for a lock only briefly: see [`LockWait`].
    fn connect_lane(&self) -> Result<Box<dyn Session>, Fault> {
        self.connect_writer()
    }

    /// Sets the time for which a lane's statements wait for a lock.
    fn wait_for_locks(&self, _session: &mut dyn Session, _wait: LockWait) -> Result<(), Fault> {
        Ok(())
    }

    /// Returns the positions of the keys whose rows another transaction has locked. Never waits for a lock.
    fn locked_keys(
        &self,
        _session: &mut dyn Session,
        _lookup: &Lookup,
        _keys: &[Vec<String>],
    ) -> Result<Vec<usize>, Fault> {
        Ok(Vec::new())
    }

    /// Opens a connection for housekeeping, whose statements may run longer than a caller waits.
    fn connect_housekeeper(&self) -> Result<Box<dyn Session>, Fault> {
        self.connect_writer()
    }

    /// Opens a connection that only reads.
    fn connect_reader(&self) -> Result<Box<dyn Session>, Fault>;

    /// Opens a connection that only reads, and only by key.
    fn connect_by_id(&self) -> Result<Box<dyn Session>, Fault> {
        self.connect_reader()
    }

    /// Opens a connection that only reads, without a time limit.
    fn connect_auditor(&self) -> Result<Box<dyn Session>, Fault>;

    /// Returns the query that reads the server's clock in microseconds, with a zero as second column; `None` for an engine without a
    /// server.
    fn server_clock(&self) -> Option<String> {
        None
    }

    /// Returns the statement that begins a transaction that writes.
    fn begin(&self) -> &'static str;

    /// Returns the statement that begins a transaction that reads one snapshot.
    fn begin_snapshot(&self) -> &'static str;

    /// Returns the SQL that commits. No statement timeout may interrupt the commit while it waits for a replica.
    fn commit(&self) -> &'static str;

    /// Executes the statements. Returns whether every guarded row was changed.
    fn apply(&self, session: &mut dyn Session, ops: &[Op<'_>]) -> Result<bool, Fault>;

    /// Returns whether [`Engine::apply_alone`] executes everything in one round trip.
    fn applies_alone(&self) -> bool {
        false
    }

    /// Executes the statements as one separate transaction. None of them may delete rows. Returns whether every guarded row was changed; if
    /// not, nothing is written. After an error the outcome is uncertain.
    fn apply_alone(&self, session: &mut dyn Session, ops: &[Op<'_>]) -> Result<bool, Fault> {
        session.run(self.begin())?;
        if !self.apply(session, ops)? {
            session.run("ROLLBACK")?;
            return Ok(false);
        }
        session.run(self.commit())?;
        Ok(true)
    }

    /// Returns the statements that find the rows of `keys`. With `lock` the rows stay locked until the end of the transaction.
    fn lookup_queries<'k>(&self, lookup: &'k Lookup, keys: &'k [Vec<String>], lock: bool) -> Vec<Query<'k>>;
}

/// A search for rows of one table by their keys, which are all texts.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// The selected columns.
    select: Selected,
    /// The table and its joins.
    from: &'static str,
    /// The alias of the table in `select` and `from`.
    alias: &'static str,
    /// The columns of the key.
    pub(crate) keys: &'static [&'static str],
    set_based: OnceLock<[String; 2]>,
    single: OnceLock<String>,
}

/// The selection of a lookup.
#[derive(Debug)]
enum Selected {
    /// SQL text.
    Text(&'static str),
    /// The columns of a row.
    Columns(fn() -> String),
}

impl Selected {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Columns(columns) => columns(),
        }
    }
}

impl Lookup {
    /// Creates a lookup from the text of its columns.
    pub(crate) const fn new(
        select: &'static str,
        from: &'static str,
        alias: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self::selecting(Selected::Text(select), from, alias, keys)
    }

    /// Creates a lookup from the columns of a row.
    pub(crate) const fn of(
        columns: fn() -> String,
        from: &'static str,
        alias: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self::selecting(Selected::Columns(columns), from, alias, keys)
    }

    /// Creates a lookup of the rows of records.
    pub(crate) const fn rows<R: Row<'static>>() -> Self {
        Self::of(all_columns::<R>, R::TABLE, R::TABLE, R::KEYS)
    }

    /// Creates a lookup of the versions of records.
    pub(crate) const fn versions<R: Row<'static>>() -> Self {
        Self::of(versions::<R>, R::TABLE, R::TABLE, R::KEYS)
    }

    const fn selecting(
        select: Selected,
        from: &'static str,
        alias: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self { select, from, alias, keys, set_based: OnceLock::new(), single: OnceLock::new() }
    }

    /// Returns the table, which identifies the lookup: no two lookups that lock rows share a table.
    pub(crate) const fn table(&self) -> &'static str {
        self.from
    }

    /// Returns the statement for many keys, one array per column (PostgreSQL). With `lock`, the rows are locked in key order.
    pub(crate) fn set_based(&self, lock: bool) -> &str {
        let [plain, locking] = self.set_based.get_or_init(|| {
            let Self { from, alias, keys, .. } = self;
            let select = self.select.text();
            let arrays = keys.iter().map(|key| format!("unnest(?::text[]) AS k_{key}")).collect::<Vec<_>>().join(", ");
            let same = |(place, key)| same_as(&format!("{alias}.{key}"), &format!("u.k_{key}"), place == 0);
            let matched = keys.iter().enumerate().map(same).collect::<Vec<_>>().join(" AND ");
            let order = keys.iter().map(|key| format!("u.k_{key} COLLATE \"C\"")).collect::<Vec<_>>().join(", ");
            let plain = format!("SELECT {select} FROM (SELECT {arrays}) AS u CROSS JOIN {from} WHERE {matched}");
            let mut locking = plain.clone();
            // Writing to a `String` cannot fail.
            let _ = write!(locking, " ORDER BY {order} FOR UPDATE OF {alias}");
            [plain, locking]
        });
        if lock { locking } else { plain }
    }

    /// Returns the statement that finds the keys whose rows another transaction has locked (PostgreSQL). The result has the positions of
    /// these keys, counted from 1. The statement locks the rows of the other keys while it runs.
    pub(crate) fn locked_by_others(&self) -> String {
        let Self { from, alias, keys, .. } = self;
        let arrays = vec!["?::text[]"; keys.len()].join(", ");
        let names = keys.iter().map(|key| format!("k_{key}")).collect::<Vec<_>>().join(", ");
        let same = |(place, key)| same_as(&format!("{alias}.{key}"), &format!("u.k_{key}"), place == 0);
        let matched = keys.iter().enumerate().map(same).collect::<Vec<_>>().join(" AND ");
        format!(
            "WITH u AS MATERIALIZED (SELECT * FROM unnest({arrays}) WITH ORDINALITY AS u({names}, place)), \
             free AS MATERIALIZED (SELECT u.place FROM u CROSS JOIN LATERAL \
             (SELECT 1 FROM {from} WHERE {matched} LIMIT 1 FOR UPDATE OF {alias} SKIP LOCKED) AS f) \
             SELECT u.place, u.place FROM u CROSS JOIN LATERAL (SELECT 1 FROM {from} WHERE {matched} LIMIT 1) AS t \
             WHERE u.place NOT IN (SELECT place FROM free)"
        )
    }

    /// Returns the statement for one key (SQLite). The statement locks no rows, because the whole database is locked already.
    pub(crate) fn single(&self) -> &str {
        self.single.get_or_init(|| {
            let Self { from, alias, keys, .. } = self;
            let select = self.select.text();
            let matched = keys.iter().map(|key| format!("{alias}.{key} = ?")).collect::<Vec<_>>().join(" AND ");
            format!("SELECT {select} FROM {from} WHERE {matched}")
        })
    }
}

/// The separator between the columns of a key in one text. No column of a record's key contains the separator.
pub(crate) const KEY_SEPARATOR: char = '\u{1f}';

/// Returns all columns of a row.
fn all_columns<R: Row<'static>>() -> String {
    names::<R>(R::TABLE)
}

/// Returns the SQL of three columns: the whole key as one text, the first column of the key, and the version.
fn versions<R: Row<'static>>() -> String {
    let table = R::TABLE;
    let columns: Vec<_> = R::KEYS.iter().map(|name| format!("{table}.{name}")).collect();
    let key = columns.join(&format!(" || '{KEY_SEPARATOR}' || "));
    format!("{key}, {}, {table}.version", columns.first().map_or("''", String::as_str))
}

/// Finds the rows of `keys`. Keys without a row are absent from the result.
pub(crate) fn find<R: Loaded>(
    engine: &dyn Engine,
    session: &mut dyn Session,
    lookup: &Lookup,
    keys: &[Vec<String>],
    lock: bool,
) -> Result<Vec<R>, Fault> {
    let mut rows = Vec::new();
    if keys.is_empty() {
        return Ok(rows);
    }
    for query in engine.lookup_queries(lookup, keys, lock) {
        rows.extend(session.load(&query)?);
    }
    Ok(rows)
}

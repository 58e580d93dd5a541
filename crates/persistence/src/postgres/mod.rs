//! PostgreSQL: one statement contains a whole batch, because a round trip costs more time than the writes.

mod connect;
mod heads;
#[cfg(test)]
mod plans;
mod queue;

use std::fmt::Write as _;

use diesel::result::{DatabaseErrorKind, Error};

use crate::committer::Op;
use crate::engine::{Engine, LockWait, Lookup};
use crate::error::Fault;
use crate::migrations::NOW_POSTGRES;
use crate::sql::spec::Kind;
use crate::sql::{Bind, Query, Session, Value};

pub(crate) use connect::Postgres;

impl Engine for Postgres {
    fn connect_writer(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect_planned(connect::PLANS_BY_KEY)?))
    }

    fn server_clock(&self) -> Option<String> {
        Some(format!("SELECT {NOW_POSTGRES}, CAST(0 AS BIGINT)"))
    }

    fn connect_lane(&self) -> Result<Box<dyn Session>, Fault> {
        let mut session = self.connect_planned(connect::PLANS_BY_KEY)?;
        session.run(&self.lane_limits())?;
        Ok(Box::new(session))
    }

    fn wait_for_locks(&self, session: &mut dyn Session, wait: LockWait) -> Result<(), Fault> {
        Ok(session.run(&self.lock_limit(wait))?)
    }

    fn locked_keys(
        &self,
        session: &mut dyn Session,
        lookup: &Lookup,
        keys: &[Vec<String>],
    ) -> Result<Vec<usize>, Fault> {
        let query = by_columns(Query::once(lookup.locked_by_others()), lookup, keys);
        let places = session.load::<(i64, i64)>(&query)?;
        Ok(places.into_iter().filter_map(|(place, _)| usize::try_from(place).ok()?.checked_sub(1)).collect())
    }

    fn connect_housekeeper(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect(connect::HOUSEKEEPING)?))
    }

    fn connect_reader(&self) -> Result<Box<dyn Session>, Fault> {
        let mut session = self.connect_planned(connect::PLANS_BY_KEY)?;
        session.run(connect::WITHOUT_SORT)?;
        session.run(connect::READ_ONLY)?;
        Ok(Box::new(session))
    }

    fn connect_by_id(&self) -> Result<Box<dyn Session>, Fault> {
        let mut session = self.connect_planned(connect::PLANS_BY_KEY)?;
        session.run(connect::READ_ONLY)?;
        Ok(Box::new(session))
    }

    fn connect_auditor(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect(connect::WHOLE_TABLES)?))
    }

    fn begin(&self) -> &'static str {
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    }

    fn begin_snapshot(&self) -> &'static str {
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    }

    /// Switches the statement timeout off first: a COMMIT that is interrupted while it waits for a replica is committed but not replicated.
    fn commit(&self) -> &'static str {
        "SET LOCAL statement_timeout = 0; COMMIT"
    }

    /// Deletes rows first, in separate statements, because parts of one statement do not see each other's changes.
    fn apply(&self, session: &mut dyn Session, ops: &[Op<'_>]) -> Result<bool, Fault> {
        let (removals, others): (Vec<&Op<'_>>, Vec<&Op<'_>>) = ops.iter().partition(|op| op.spec.removes());
        for op in removals {
            let hit = session.execute(&bind(Query::new(op.spec.set_based(op.optimistic)), op)?)?;
            if op.guarded && hit != op.rows.len() {
                return Ok(false);
            }
        }
        if others.is_empty() {
            return Ok(true);
        }
        let hits = session.load::<(i64, i64)>(&self.together(&others, false)?)?;
        Ok(others.iter().zip(0_i64..).all(|(op, index)| {
            let hit = hits.iter().find(|(of, _)| *of == index).map(|(_, hit)| *hit);
            !op.guarded || hit == i64::try_from(op.rows.len()).ok()
        }))
    }

    fn applies_alone(&self) -> bool {
        true
    }

    /// Sends one statement in one round trip, without BEGIN and COMMIT. If a guarded part changes too few rows, an error rolls the
    /// statement back. The server applies no timeout while it commits such a statement.
    fn apply_alone(&self, session: &mut dyn Session, ops: &[Op<'_>]) -> Result<bool, Fault> {
        match session.load::<(i64, i64)>(&self.together(&ops.iter().collect::<Vec<_>>(), true)?) {
            Ok(_) => Ok(true),
            Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(false),
            Err(Error::DatabaseError(_, information)) if information.message() == MISSED => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn lookup_queries<'k>(&self, lookup: &'k Lookup, keys: &'k [Vec<String>], lock: bool) -> Vec<Query<'k>> {
        vec![by_columns(Query::new(lookup.set_based(lock)), lookup, keys)]
    }
}

/// Binds keys, one array per column.
fn by_columns<'k>(query: Query<'k>, lookup: &Lookup, keys: &'k [Vec<String>]) -> Query<'k> {
    (0..lookup.keys.len())
        .fold(query, |query, position| query.texts(keys.iter().filter_map(|key| key.get(position).map(String::as_str))))
}

impl Postgres {
    /// Combines all statements into one; see [`combined`].
    fn together<'q>(&self, ops: &[&'q Op<'_>], alone: bool) -> Result<Query<'q>, Fault> {
        let text = combined(ops, alone);
        let mut query = if self.stays_prepared(&text) { Query::new(text) } else { Query::once(text) };
        for op in ops {
            query = bind(query, op)?;
        }
        if alone {
            for op in ops.iter().filter(|op| op.guarded) {
                query = query.bind(i64::try_from(op.rows.len()).unwrap_or(i64::MAX));
            }
        }
        Ok(query)
    }
}

/// The server's message if a guarded part of a single-statement batch changes too few rows: see [`combined`]. If the message is in another
/// language, the batch is first recorded as aborted, and then runs on the pessimistic path with the same result.
const MISSED: &str = "division by zero";

/// Combines all statements into one. The combined statement returns the number of rows that each part changed. With `alone`, the statement
/// fails with [`MISSED`] if a guarded part changes too few rows. Batches of the same shape share one prepared statement.
fn combined(ops: &[&Op<'_>], alone: bool) -> String {
    let mut text = String::with_capacity(2_048);
    // Writing to a `String` cannot fail.
    for (index, op) in ops.iter().enumerate() {
        let before = if index == 0 { "WITH " } else { ", " };
        let _ = write!(text, "{before}o{index} AS ({} RETURNING 1)", op.spec.set_based(op.optimistic));
    }
    for (index, op) in ops.iter().enumerate() {
        let before = if index == 0 { " " } else { " UNION ALL " };
        let guard = if alone && op.guarded { " / (count(*) = ?::bigint)::int" } else { "" };
        let _ = write!(text, "{before}SELECT {index}::bigint, count(*){guard} FROM o{index}");
    }
    text
}

/// Binds the rows of a statement as one array per column.
fn bind<'q>(mut query: Query<'q>, op: &'q Op<'_>) -> Result<Query<'q>, Fault> {
    for (position, (name, kind)) in op.spec.columns().enumerate() {
        let column = column(kind, op.rows.iter().map(|row| row.get(position)));
        query = query.column(
            column.ok_or_else(|| Fault::Refused(format!("a value of the column `{name}` has the wrong type")))?,
        );
    }
    Ok(query)
}

/// Returns the values as an array; `None` if a value is missing or has another type.
fn column<'q>(kind: Kind, values: impl Iterator<Item = Option<&'q Value<'q>>>) -> Option<Bind<'q>> {
    let (mut texts, mut ints, mut blobs) = (Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match (kind, value?) {
            (Kind::Text, Value::Text(text)) => texts.push(Some(text.as_ref())),
            (Kind::Text, Value::Null) => texts.push(None),
            (Kind::Int, Value::Int(number)) => ints.push(Some(*number)),
            (Kind::Int, Value::Null) => ints.push(None),
            (Kind::Bytes, Value::Bytes(bytes)) => blobs.push(Some(bytes.as_ref())),
            (Kind::Bytes, Value::Null) => blobs.push(None),
            (Kind::Text | Kind::Int | Kind::Bytes, Value::Text(_) | Value::Int(_) | Value::Bytes(_)) => return None,
        }
    }
    Some(match kind {
        Kind::Text => Bind::Texts(texts),
        Kind::Int => Bind::Ints(ints),
        Kind::Bytes => Bind::Blobs(blobs),
    })
}

//! SQLite: writes row by row under one write lock. There is no server, so combining rows would save no round trip.

mod connect;
mod queue;
mod turns;

use crate::committer::Op;
use crate::engine::{Engine, Lookup};
use crate::error::Fault;
use crate::sql::{Query, Session};

pub(crate) use connect::{Sqlite, WAL};

impl Engine for Sqlite {
    fn connect_writer(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect_in_turn("")?))
    }

    fn connect_reader(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect("PRAGMA query_only = ON")?))
    }

    fn connect_auditor(&self) -> Result<Box<dyn Session>, Fault> {
        self.connect_reader()
    }

    /// Acquires the write lock at the beginning, because an upgrade of a read lock would fail instead of waiting.
    fn begin(&self) -> &'static str {
        "BEGIN IMMEDIATE"
    }

    fn begin_snapshot(&self) -> &'static str {
        "BEGIN DEFERRED"
    }

    fn commit(&self) -> &'static str {
        "COMMIT"
    }

    fn apply(&self, session: &mut dyn Session, ops: &[Op<'_>]) -> Result<bool, Fault> {
        for op in ops {
            for row in &op.rows {
                let query = row.iter().fold(Query::new(op.spec.single()), |query, value| query.bind(value.clone()));
                let hit = session.execute(&query)?;
                if op.guarded && hit != 1 {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn lookup_queries<'k>(&self, lookup: &'k Lookup, keys: &'k [Vec<String>], _lock: bool) -> Vec<Query<'k>> {
        let question = |key: &'k Vec<String>| {
            key.iter().fold(Query::new(lookup.single()), |query, part| query.bind(part.as_str()))
        };
        keys.iter().map(question).collect()
    }
}

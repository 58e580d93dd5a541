//! The order of writers. A file has one writer at a time. The writers of this process write in the order of their arrival.
//!
//! SQLite itself keeps no order: waiting writers sleep and retry. So without turns, a writer without pauses would block all others.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use diesel::result::{DatabaseErrorKind, Error};
use diesel::{QueryResult, SqliteConnection};

use crate::sql::{Connection, Query, Session};

/// The writers of one file, the active one first.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    last: u64,
    waiting: VecDeque<u64>,
}

impl Turns {
    /// Waits for a turn, at most `max_wait`.
    ///
    /// # Errors
    /// If the turn does not come in time: the error that SQLite returns for a locked file after its own timeout.
    fn take(self: &Arc<Self>, max_wait: Duration) -> QueryResult<Turn> {
        let mut line = self.line();
        line.last = line.last.wrapping_add(1);
        let number = line.last;
        line.waiting.push_back(number);
        let turn = Turn { turns: Arc::clone(self), number };
        let wait = self.moved.wait_timeout_while(line, max_wait, |line| line.waiting.front() != Some(&number));
        let (line, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        drop(line);
        if waited.timed_out() {
            drop(turn);
            return Err(Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new("database is locked".to_owned())));
        }
        Ok(turn)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the line of writers. The first place is the right to write. Dropping the value frees the place, and the next writer may
/// write.
#[derive(Debug)]
struct Turn {
    turns: Arc<Turns>,
    number: u64,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.line().waiting.retain(|number| *number != self.number);
        self.turns.moved.notify_all();
    }
}

/// A connection that waits for its turn before it writes. A turn lasts for one transaction, or for one statement outside of a transaction.
pub(crate) struct Writer {
    // Declared before `turn`. Fields are dropped in this order, so an open transaction is rolled back before the turn ends.
    connection: SqliteConnection,
    turns: Arc<Turns>,
    max_wait: Duration,
    in_transaction: bool,
    turn: Option<Turn>,
}

impl Writer {
    /// Creates a writer with a limit on the wait for its turn.
    pub(super) const fn new(connection: SqliteConnection, turns: Arc<Turns>, max_wait: Duration) -> Self {
        Self { connection, turns, max_wait, in_transaction: false, turn: None }
    }

    /// Runs `write` when the connection's turn comes. `text` is the statement, or empty if the statement cannot begin or end a transaction.
    fn in_turn<T>(&mut self, text: &str, write: impl FnOnce(Connection<'_>) -> QueryResult<T>) -> QueryResult<T> {
        if self.turn.is_none() {
            self.turn = Some(self.turns.take(self.max_wait)?);
        }
        let done = write(Connection::Sqlite(&mut self.connection));
        match text {
            begin if begin.starts_with("BEGIN") => self.in_transaction = done.is_ok(),
            // A transaction whose commit failed is still open.
            "COMMIT" => self.in_transaction = done.is_err(),
            "ROLLBACK" => self.in_transaction = false,
            _ => {}
        }
        if !self.in_transaction {
            self.turn = None;
        }
        done
    }
}

impl Session for Writer {
    fn connection(&mut self) -> Connection<'_> {
        Connection::Sqlite(&mut self.connection)
    }

    fn run(&mut self, sql: &str) -> QueryResult<()> {
        self.in_turn(sql, |connection| connection.run(sql))
    }

    fn execute(&mut self, query: &Query<'_>) -> QueryResult<usize> {
        self.in_turn("", |connection| connection.execute(query))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    /// Returns the length of the line.
    fn length(turns: &Turns) -> usize {
        turns.line().waiting.len()
    }

    #[test]
    fn turns_follow_the_order_of_requests() {
        let turns = Arc::<Turns>::default();
        let first = turns.take(LONG).unwrap();
        let (sender, order) = mpsc::channel();
        let waiting: Vec<_> = (0..5)
            .map(|number| {
                let (others, sender) = (Arc::clone(&turns), sender.clone());
                let waiting = thread::spawn(move || {
                    let turn = others.take(LONG).unwrap();
                    sender.send(number).unwrap();
                    drop(turn);
                });
                while length(&turns) < number + 2 {
                    thread::yield_now();
                }
                waiting
            })
            .collect();
        drop(first);
        let order: Vec<usize> = order.iter().take(5).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        for thread in waiting {
            thread.join().unwrap();
        }
        assert_eq!(length(&turns), 0);
    }

    #[test]
    fn writer_that_stops_waiting_leaves_the_line() {
        let turns = Arc::<Turns>::default();
        let first = turns.take(LONG).unwrap();
        let late = turns.take(Duration::ZERO).unwrap_err();
        assert_eq!(late.to_string(), "database is locked");
        assert_eq!(length(&turns), 1);
        drop(first);
        assert!(turns.take(Duration::ZERO).is_ok());
    }
}

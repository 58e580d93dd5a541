//! Runs one batch of change sets as one transaction, from the locks to the verdict on each change set. Handles the failure of each step.
//!
//! The steps of a batch, in their order:
//!
//! 1. Balances and event counters are locked in key order (`lock`).
//! 2. On the pessimistic path, idempotency records, unique values and versions are read and locked (`observe`).
//! 3. Every change set is judged in order against a snapshot, which consists of the rows that were read (`cais_commit_rules`). The writes
//!    of accepted change sets are collected (`plan`).
//! 4. All accepted writes are executed together with the batch's own id, and committed (`ops`).
//!
//! The optimistic path leaves step 2 out. It inserts rows, and updates a row only under a guard: the stored version or fence must be the
//! expected one. If a guard misses, the database refuses a statement, or a rule refuses a change set, the batch is rolled back and runs
//! again on the pessimistic path. A batch that touches a key twice runs on the pessimistic path at once. The pessimistic path guards new
//! rows as well (`ON CONFLICT DO NOTHING`), because a row that does not exist cannot be locked. Refused change sets are never written.
//!
//! If the engine supports it, an optimistic batch that locks nothing is one statement and one round trip. That statement also commits. If
//! it fails for a reason other than a missed guard or a lock, the outcome of the batch is looked up, as after a failed COMMIT.
//!
//! Every step can wait for a lock of another transaction. Each wait has a short limit. If a batch of several change sets reaches the limit:
//!
//! 1. The locked rows are found without waiting (`apart`). The change sets that touch them are returned as [`Outcome::Locked`], and the
//!    other change sets run again.
//! 2. If no locked row is found, another transaction may have inserted a row that this batch inserts too. Then the change sets run singly.
//!    Change sets that reach the limit again are returned as [`Outcome::Stuck`].
//!
//! Every batch writes its id. If the reply to its commit is lost, `outcome` determines the outcome. A batch found uncommitted is marked as
//! aborted, so that it can never commit. Its change sets may then run again under a new id.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use cais_commit_rules::{KeySnapshot, Mode, Snapshot};
use cais_ports::{ChangeSet, CommitError, Committed, EndpointQueue, IdGenerator};
use jiff::Timestamp;

use super::outcome::{self, BatchOutcome};
use super::plan::BatchPlan;
use super::touched::TouchedKeys;
use super::{apart, lock, observe, ops};
use crate::engine::{Engine, LockWait};
use crate::error::Fault;
use crate::hints::Hints;
use crate::sql::Session;

/// The largest number of attempts. After them, the change sets of a batch run singly, and a single change set fails.
const ATTEMPTS: u32 = 5;
/// The wait after the first conflict. Each further conflict doubles the wait.
const BACKOFF: Duration = Duration::from_millis(2);
/// The wait between two attempts to connect.
const RECONNECT: Duration = Duration::from_millis(50);

type Verdicts = Vec<Result<Committed, CommitError>>;

/// The outcome of a change set.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The change set is durable, or was refused.
    Judged(Result<Committed, CommitError>),
    /// The change set is not written. Either another transaction has locked one of its rows, or an earlier change set with a common key
    /// has to wait.
    Locked,
    /// The change set is not written: it waited too long for a lock, and no locked row is visible.
    Stuck,
}

/// The result of an attempt that did not fail.
enum Ended {
    /// Every change set has its verdict, and everything accepted is durable.
    Done(Verdicts),
    /// The snapshot was out of date, or a change set was refused on the optimistic path. Nothing was written.
    Misjudged,
}

/// The state of a transaction before its COMMIT.
enum Written {
    /// Everything accepted is written, with this batch id. The last field lists the queues that received new deliveries.
    Marked(Verdicts, String, Vec<EndpointQueue>),
    /// There is nothing to write, for example because every change set was refused.
    Nothing(Verdicts),
    /// A guard missed, or a change set was refused on the optimistic path.
    Misjudged,
}

/// A runner of batches with its own connection.
pub(super) struct Runner<'e> {
    engine: &'e dyn Engine,
    ids: &'e dyn IdGenerator,
    hints: &'e Hints,
    /// The connection, and the lock wait that is set on it.
    session: Option<(Box<dyn Session>, LockWait)>,
    /// The lock wait for the next statements.
    wait: LockWait,
}

impl<'e> Runner<'e> {
    pub(super) fn new(
        engine: &'e dyn Engine,
        ids: &'e dyn IdGenerator,
        hints: &'e Hints,
        session: Box<dyn Session>,
    ) -> Self {
        Self { engine, ids, hints, session: Some((session, LockWait::Batch)), wait: LockWait::Batch }
    }

    /// Commits as many change sets as possible before `deadline`. Returns one outcome for each, in order.
    pub(super) fn run(&mut self, changes: &[&ChangeSet], deadline: Instant) -> Vec<Outcome> {
        if changes.is_empty() {
            return Vec::new();
        }
        let mut mode = if TouchedKeys::of(changes).twice { Mode::Pessimistic } else { Mode::Optimistic };
        let mut last = String::from("the commit did not finish before its deadline");
        let mut tries = 0;
        while tries < ATTEMPTS && Instant::now() < deadline {
            match self.attempt(changes, mode, deadline) {
                Ok(Ended::Done(verdicts)) => return verdicts.into_iter().map(Outcome::Judged).collect(),
                // A duplicate value and an existing record can cause the same error. The pessimistic path distinguishes them.
                Ok(Ended::Misjudged) | Err(Fault::Refused(_)) if mode == Mode::Optimistic => mode = Mode::Pessimistic,
                Ok(Ended::Misjudged) => {
                    tries = tries.saturating_add(1);
                    last = "another node changed the records during each attempt".into();
                }
                Err(Fault::Locked(_)) if changes.len() > 1 => return self.run_apart(changes, deadline),
                Err(Fault::Locked(_)) => return vec![Outcome::Stuck],
                Err(Fault::Again(text)) => {
                    thread::sleep(BACKOFF.saturating_mul(1 << tries));
                    tries = tries.saturating_add(1);
                    last = text;
                }
                // A lost connection does not count as an attempt: until the deadline, the lane waits for a server that restarts.
                Err(Fault::Lost(text)) => {
                    thread::sleep(RECONNECT);
                    last = text;
                }
                Err(fault @ (Fault::Refused(_) | Fault::Corrupt(_))) if changes.len() > 1 => {
                    tracing::warn!(%fault, size = changes.len(), "batch refused by the database; its change sets are committed one by one");
                    return self.one_by_one(changes, deadline);
                }
                Err(fault) => {
                    tracing::error!(%fault, "commit of a change set failed; its caller receives the error");
                    return changes.iter().map(|_| Outcome::Judged(Err(fault.clone().into()))).collect();
                }
            }
            metrics::counter!("cais_commit_retries_total").increment(1);
        }
        if tries >= ATTEMPTS && changes.len() > 1 {
            return self.one_by_one(changes, deadline);
        }
        changes.iter().map(|_| Outcome::Judged(Err(CommitError::Unavailable(last.clone())))).collect()
    }

    /// Commits one change set that was stuck before. Waits for locks only briefly.
    pub(super) fn run_stuck(&mut self, change: &ChangeSet, deadline: Instant) -> Outcome {
        self.wait = LockWait::Probe;
        let outcome = self.run(&[change], deadline).pop();
        self.wait = LockWait::Batch;
        outcome.unwrap_or(Outcome::Stuck)
    }

    /// Commits an empty batch, which shows that change sets can be committed now. Housekeeping removes the stored id of the batch.
    ///
    /// # Errors
    /// [`Fault`] if the commit fails.
    pub(super) fn probe(&mut self) -> Result<(), Fault> {
        let (engine, batch) = (self.engine, self.ids.next_uuid().to_string());
        let mark = [outcome::committed(&batch, Timestamp::UNIX_EPOCH)];
        let mut done = Ok(false);
        // Two attempts, because the first may fail only on a connection that was lost long ago.
        for _ in 0..2 {
            done = self.session().and_then(|session| engine.apply(session, &mark));
            let Err(fault) = done else { break };
            done = Err(self.abort(fault));
        }
        done.map(drop)
    }

    /// Returns the positions of the change sets that have to wait: those in `stuck`, and those that touch a locked row. Later change sets
    /// that share a key with one of them have to wait too.
    pub(super) fn waiting(&mut self, changes: &[&ChangeSet], mut stuck: BTreeSet<usize>) -> BTreeSet<usize> {
        let engine = self.engine;
        match self.session().and_then(|session| apart::locked(engine, session, changes)) {
            Ok(locked) => stuck.extend(locked),
            // The search never waits for a row, so a whole table is locked.
            Err(Fault::Locked(_)) => stuck.extend(0..changes.len()),
            Err(fault) => {
                let fault = self.abort(fault);
                tracing::debug!(%fault, "locked rows could not be searched; only stuck change sets and those behind them are set aside");
            }
        }
        apart::hold_followers(changes, &mut stuck);
        stuck
    }

    /// Runs the change sets that touch no locked row. If no locked row is found, runs all change sets singly, with a brief lock wait.
    fn run_apart(&mut self, changes: &[&ChangeSet], deadline: Instant) -> Vec<Outcome> {
        let waiting = self.waiting(changes, BTreeSet::new());
        if waiting.is_empty() {
            self.wait = LockWait::Probe;
            let outcomes = self.one_by_one(changes, deadline);
            self.wait = LockWait::Batch;
            return outcomes;
        }
        let free = changes.iter().enumerate().filter(|(place, _)| !waiting.contains(place));
        let mut outcomes = self.run(&free.map(|(_, change)| *change).collect::<Vec<_>>(), deadline).into_iter();
        let outcome = |place| if waiting.contains(&place) { None } else { outcomes.next() };
        (0..changes.len()).map(outcome).map(|outcome| outcome.unwrap_or(Outcome::Locked)).collect()
    }

    /// Runs the change sets singly, so that one bad row does not affect the other change sets. A change set is not run if it shares a key
    /// with an earlier one that has to wait.
    fn one_by_one(&mut self, changes: &[&ChangeSet], deadline: Instant) -> Vec<Outcome> {
        let (mut held, mut outcomes) = (TouchedKeys::default(), Vec::with_capacity(changes.len()));
        for change in changes {
            let touched = TouchedKeys::of(&[change]);
            let outcome =
                if held.overlaps(&touched) { Some(Outcome::Locked) } else { self.run(&[*change], deadline).pop() };
            let outcome = outcome.unwrap_or(Outcome::Stuck);
            if !matches!(outcome, Outcome::Judged(_)) {
                held.extend(touched);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    fn attempt(&mut self, changes: &[&ChangeSet], mode: Mode, deadline: Instant) -> Result<Ended, Fault> {
        self.set_wait()?;
        if mode == Mode::Optimistic && self.engine.applies_alone() && changes.iter().all(|change| locks_nothing(change))
        {
            return self.write_alone(changes, deadline);
        }
        match self.write(changes, mode) {
            Ok(Written::Marked(verdicts, batch, queues)) => {
                self.commit(&batch, latest(changes), deadline)?;
                self.hints.add(queues);
                Ok(Ended::Done(verdicts))
            }
            Ok(Written::Nothing(verdicts)) => self.roll_back().map(|()| Ended::Done(verdicts)),
            Ok(Written::Misjudged) => self.roll_back().map(|()| Ended::Misjudged),
            Err(fault) => Err(self.abort(fault)),
        }
    }

    /// Writes the whole batch as one statement, which is a transaction of its own. Such a batch has no rows to lock first.
    fn write_alone(&mut self, changes: &[&ChangeSet], deadline: Instant) -> Result<Ended, Fault> {
        let engine = self.engine;
        let snapshot = Snapshot { mode: Mode::Optimistic, ..Snapshot::default() };
        let (verdicts, plan) = BatchPlan::judge(changes, snapshot, self.ids);
        if verdicts.iter().any(Result::is_err) {
            return Ok(Ended::Misjudged);
        }
        if plan.is_empty() {
            return Ok(Ended::Done(verdicts));
        }
        let (batch, at) = (self.ids.next_uuid().to_string(), latest(changes));
        let ops = ops::ops(&plan, &batch, at, Mode::Optimistic);
        match engine.apply_alone(self.session()?, &ops) {
            Ok(true) => Ok(Ended::Done(verdicts)),
            Ok(false) => Ok(Ended::Misjudged),
            // A statement that waited for a lock has not begun its commit, so nothing is written.
            Err(fault @ Fault::Locked(_)) => Err(self.abort(fault)),
            // The statement failed before its commit, during it or after it.
            Err(fault) => self.look_up_outcome(fault, &batch, at, deadline).map(|()| Ended::Done(verdicts)),
        }
    }

    /// Locks, judges and writes: everything before the COMMIT.
    fn write(&mut self, changes: &[&ChangeSet], mode: Mode) -> Result<Written, Fault> {
        let (engine, ids) = (self.engine, self.ids);
        let session = self.session()?;
        let ledger = lock::ledger(engine, session, changes)?;
        let keys = match mode {
            Mode::Pessimistic => observe::keys(engine, session, &TouchedKeys::of(changes))?,
            Mode::Optimistic => KeySnapshot::default(),
        };
        let (verdicts, plan) = BatchPlan::judge(changes, Snapshot { mode, keys, ledger }, ids);
        if mode == Mode::Optimistic && verdicts.iter().any(Result::is_err) {
            return Ok(Written::Misjudged);
        }
        if plan.is_empty() {
            return Ok(Written::Nothing(verdicts));
        }
        let batch = ids.next_uuid().to_string();
        let ops = ops::ops(&plan, &batch, latest(changes), mode);
        if engine.apply(session, &ops)? {
            let queues = plan.deliveries.iter().map(|delivery| delivery.queue).collect();
            Ok(Written::Marked(verdicts, batch, queues))
        } else {
            Ok(Written::Misjudged)
        }
    }

    /// Commits. Unless the result is [`Fault::Down`], the outcome is certain, even if the reply was lost.
    fn commit(&mut self, batch: &str, at: Timestamp, deadline: Instant) -> Result<(), Fault> {
        let engine = self.engine;
        match self.session()?.run(engine.commit()) {
            Ok(()) => Ok(()),
            Err(error) => self.look_up_outcome(error.into(), batch, at, deadline),
        }
    }

    /// Looks up the outcome of a batch whose commit failed with `fault`. If the batch is not committed, the look-up aborts the batch for
    /// good and returns `fault`.
    fn look_up_outcome(&mut self, fault: Fault, batch: &str, at: Timestamp, deadline: Instant) -> Result<(), Fault> {
        let engine = self.engine;
        let fault = self.abort(fault);
        tracing::warn!(%fault, batch, "outcome of a commit unknown; it is looked up");
        let mut why = fault.to_string();
        while Instant::now() < deadline {
            match self.session().and_then(|session| outcome::abort_if_uncommitted(engine, session, batch, at)) {
                Ok(BatchOutcome::Aborted) => {
                    metrics::counter!("cais_commit_unknown_total", "outcome" => "not_committed").increment(1);
                    return Err(fault);
                }
                Ok(BatchOutcome::Committed) => {
                    metrics::counter!("cais_commit_unknown_total", "outcome" => "committed").increment(1);
                    return Ok(());
                }
                // A further look-up is not safe: it could mark a committed batch as aborted.
                Ok(BatchOutcome::Unknown) => {
                    why = "the stored id of the batch was removed".into();
                    break;
                }
                Err(error) => {
                    why = self.abort(error).to_string();
                    thread::sleep(RECONNECT);
                }
            }
        }
        metrics::counter!("cais_commit_unknown_total", "outcome" => "unknown").increment(1);
        Err(Fault::Down(format!("the outcome of batch {batch} is unknown: {why}")))
    }

    fn session(&mut self) -> Result<&mut dyn Session, Fault> {
        let (session, _) = match &mut self.session {
            Some(connected) => connected,
            empty @ None => empty.insert((self.engine.connect_lane()?, LockWait::Batch)),
        };
        Ok(&mut **session)
    }

    /// Sets the lock wait of the next statements. Runs outside of a transaction, so that no rollback undoes it.
    fn set_wait(&mut self) -> Result<(), Fault> {
        let (engine, required) = (self.engine, self.wait);
        self.session()?;
        let Some((session, wait)) = self.session.as_mut().filter(|(_, wait)| *wait != required) else { return Ok(()) };
        *wait = required;
        let set = engine.wait_for_locks(&mut **session, required);
        set.map_err(|fault| {
            // The lock wait that is set on this connection is uncertain.
            self.session = None;
            Fault::Lost(fault.to_string())
        })
    }

    fn roll_back(&mut self) -> Result<(), Fault> {
        let rolled_back = self.session()?.run("ROLLBACK");
        rolled_back.map_err(|error| {
            self.session = None;
            Fault::Lost(error.to_string())
        })
    }

    /// Rolls back after a failure. Drops the connection if the rollback fails.
    fn abort(&mut self, fault: Fault) -> Fault {
        if matches!(fault, Fault::Lost(_) | Fault::Down(_)) {
            self.session = None;
            return fault;
        }
        match self.session.as_mut().map(|(session, _)| session.run("ROLLBACK")) {
            // After some failures SQLite has no open transaction, and ROLLBACK returns an error.
            Some(Err(error)) if !error.to_string().contains("no transaction is active") => {
                self.session = None;
                Fault::Lost(format!("{fault}; {error}"))
            }
            Some(_) | None => fault,
        }
    }
}

/// Returns whether the change set touches no balance, block or counter, and frees no value that another change set may reserve.
fn locks_nothing(change: &ChangeSet) -> bool {
    change.transfers.is_empty() && change.blocks.is_empty() && change.events.is_empty() && change.unreserve.is_empty()
}

/// Returns the latest instant of the change sets. By this instant, housekeeping recognizes old batch ids.
fn latest(changes: &[&ChangeSet]) -> Timestamp {
    changes.iter().map(|change| change.at).max().unwrap_or(Timestamp::UNIX_EPOCH)
}

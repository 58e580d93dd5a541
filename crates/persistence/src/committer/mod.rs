//! The group committer: all change sets that wait for a lane become one transaction. Change sets that arrive during its commit become the
//! next transaction.
//!
//! A lane is a thread with its own connection and a bounded queue, and serves some of the accounts. The path of a change set:
//!
//! 1. [`Committer::commit`] puts the change set into the queue of a lane. The account of the change set determines the lane.
//! 2. `lane` receives all waiting change sets. The lane does not wait until a batch is full.
//! 3. `batch` runs them as one transaction: locks, judgment, writes, COMMIT. That module documents the order of steps and the handling of
//!    failures.
//! 4. Every caller receives its verdict. If another transaction keeps a row locked, `lane` sets the change sets that need the row aside,
//!    until the row is free or the caller's deadline passes. Meanwhile the lane continues with the other change sets.
//!
//! `cais_commit_rules` judges the change sets; the files here load its snapshot and write its effects. `lock` and `observe` load the
//! snapshot. `plan` collects the writes of a batch, and `ops` turns them into statements. `apart` finds the change sets that wait for locks
//! of other transactions. `outcome` determines the outcome of a batch whose COMMIT got no reply.

mod apart;
mod batch;
mod lane;
mod lock;
mod observe;
mod ops;
mod outcome;
mod plan;
mod touched;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use observe::LOOKUPS;
pub(crate) use ops::Op;

use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cais_domain::block::BlockChange;
use cais_domain::ids::AccountId;
use cais_domain::ledger::LedgerAccount;
use cais_ports::{ChangeSet, CommitError, Committed, IdGenerator, alerts};
use tokio::sync::{mpsc, oneshot};

use self::batch::Runner;
use self::lane::Lane;
use crate::config::StoreConfig;
use crate::engine::Engine;
use crate::error::Fault;
use crate::hints::Hints;
use crate::pulse::Pulse;

/// A change set that waits for its lane.
struct Job {
    change: ChangeSet,
    deadline: Instant,
    reply: oneshot::Sender<Result<Committed, CommitError>>,
}

/// The channel for the result of a probe.
type Probe = oneshot::Sender<Result<(), Fault>>;

/// A message in the queue of a lane.
enum Message {
    /// A change set, boxed because it is far larger than a probe.
    Commit(Box<Job>),
    /// A probe that checks that the lane can write.
    Probe(Probe),
}

/// The lanes and their queues.
pub(crate) struct Committer {
    /// Empty after the committer is closed.
    lanes: RwLock<Vec<(mpsc::Sender<Message>, Pulse)>>,
    threads: RwLock<Vec<JoinHandle<()>>>,
    deadline: Duration,
}

impl Committer {
    /// Connects every lane and starts its thread.
    pub(crate) fn start(
        engine: &Arc<dyn Engine>,
        ids: &Arc<dyn IdGenerator>,
        hints: &Arc<Hints>,
        config: &StoreConfig,
    ) -> Result<Self, Fault> {
        let count = if config.url.is_sqlite() { 1 } else { config.lanes.max(1) };
        let (mut lanes, mut threads) = (Vec::new(), Vec::new());
        for number in 0..count {
            let session = engine.connect_lane()?;
            let (sender, receiver) = mpsc::channel(config.queue.max(1));
            let (engine, ids, hints) = (Arc::clone(engine), Arc::clone(ids), Arc::clone(hints));
            let max_batch = config.max_batch.max(1);
            let pulse = Pulse::default();
            let working = pulse.clone();
            let lane =
                move || Lane::new(receiver, Runner::new(&*engine, &*ids, &hints, session), max_batch, working).work();
            let thread = thread::Builder::new().name(format!("cais-lane-{number}")).spawn(lane);
            threads.push(thread.map_err(|error| Fault::Down(error.to_string()))?);
            lanes.push((sender, pulse));
        }
        Ok(Self { lanes: RwLock::new(lanes), threads: RwLock::new(threads), deadline: config.deadline })
    }

    /// Queues the change set and waits for its verdict.
    pub(crate) async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let deadline =
            Instant::now().checked_add(self.deadline).ok_or_else(|| unavailable("the deadline is out of range"))?;
        let (reply, verdict) = oneshot::channel();
        self.enqueue(Job { change, deadline, reply })?;
        match tokio::time::timeout(self.deadline, verdict).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_)) => Err(unavailable("the lane has ended")),
            Err(_) => Err(unavailable("the commit took too long")),
        }
    }

    fn enqueue(&self, job: Job) -> Result<(), CommitError> {
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        let lane = lane_of(&job.change, lanes.len()).and_then(|lane| lanes.get(lane));
        let (lane, _) = lane.ok_or_else(|| unavailable("the store is closed"))?;
        lane.try_send(Message::Commit(Box::new(job))).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                metrics::counter!("cais_commit_queue_full_total").increment(1);
                unavailable("too many changes are waiting")
            }
            mpsc::error::TrySendError::Closed(_) => unavailable("the lane has ended"),
        })
    }

    /// Checks that every lane can write. A lane without a fresh success ([`Pulse::is_fresh`]) commits an empty batch now.
    ///
    /// # Errors
    /// The reason for which a lane cannot write.
    pub(crate) async fn probe(&self) -> Result<(), Fault> {
        let answers: Vec<_> = {
            let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
            let ask = |lane: &mpsc::Sender<Message>| {
                let (probe, answer) = oneshot::channel();
                lane.try_send(Message::Probe(probe)).map(|()| answer)
            };
            lanes.iter().filter(|(_, pulse)| !pulse.is_fresh()).map(|(lane, _)| ask(lane)).collect()
        };
        for answer in answers {
            let answer = answer.map_err(|_| Fault::Down("too many changes are waiting, or a lane has ended".into()))?;
            answer.await.map_err(|_| Fault::Down("a lane has ended".into()))??;
        }
        Ok(())
    }

    /// Returns whether every lane is running.
    pub(crate) fn is_open(&self) -> bool {
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        !lanes.is_empty() && lanes.iter().all(|(lane, _)| !lane.is_closed())
    }

    /// Accepts no more change sets, and returns when all accepted ones have their verdict.
    pub(crate) fn close(&self) {
        self.lanes.write().unwrap_or_else(PoisonError::into_inner).clear();
        let threads = std::mem::take(&mut *self.threads.write().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!(alert = alerts::PANIC, "commit lane panicked; detected while the store closes");
            }
        }
    }
}

fn unavailable(why: &str) -> CommitError {
    CommitError::Unavailable(why.to_owned())
}

/// Returns the lane of a change set. An account always has the same lane, so that its change sets are judged in the order of their arrival.
/// Accounts that share rows of the system accounts have the same lane, so that no lane waits for another lane's locks on those rows.
fn lane_of(change: &ChangeSet, lanes: usize) -> Option<usize> {
    let shard = account_of(change).map_or(0, LedgerAccount::shard);
    usize::from(shard).checked_rem(lanes)
}

/// Returns the account of a change set, which is that of its first part with an account. Returns `None` without such a part; the first lane
/// commits such a change set.
fn account_of(change: &ChangeSet) -> Option<AccountId> {
    let key_account = change.idempotency.as_ref().map(|change| change.name().account);
    key_account
        .or_else(|| change.writes.iter().find_map(|write| write.record().account()))
        .or_else(|| change.reserve.first().map(|reservation| reservation.account))
        .or_else(|| change.blocks.first().map(BlockChange::account))
        .or_else(|| change.events.first().map(|event| event.account))
}

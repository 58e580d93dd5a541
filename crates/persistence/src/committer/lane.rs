//! Runs a lane, the thread that commits the change sets of some accounts. The lane sets aside the change sets that wait for locks of
//! other transactions.
//!
//! At every turn of its loop, the lane searches for the locked rows of the change sets that are set aside, without waiting for a lock.
//! If the lock that a change set waits for is not visible, the lane tries the commit again with a brief wait. So a locked row delays only
//! the change sets that need it. The lane also sets a change set aside if an earlier one that is set aside has the same idempotency
//! record, unique value or record. So changes of one record stay in order. A change set is dropped when the deadline of its caller passes;
//! nothing of it was written.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use cais_ports::{ChangeSet, CommitError};
use tokio::sync::mpsc;

use super::batch::{Outcome, Runner};
use super::{Job, Message, Probe, unavailable};
use crate::pulse::Pulse;

/// The pause between two checks of the change sets that are set aside, if the lane has no other work.
const CHECK_EVERY: Duration = Duration::from_millis(20);
/// The largest number of change sets that a lane sets aside. Further ones that need a locked row are refused.
const MAX_ASIDE: usize = 1_024;

/// The reason that the caller of a late change set receives, unless the caller has stopped waiting.
const LATE: &str = "the deadline passed in the queue, or while a row was locked";

/// A lane: its queue, its connection, and the change sets that it set aside.
pub(super) struct Lane<'e> {
    queue: mpsc::Receiver<Message>,
    runner: Runner<'e>,
    max_batch: usize,
    aside: Vec<Waiting>,
    /// `true` if the jobs of this turn begin with those that were set aside.
    had_aside: bool,
    /// The callers that wait for a probe of the lane.
    probes: Vec<Probe>,
    pulse: Pulse,
}

/// A change set that is set aside, or about to run.
struct Waiting {
    job: Job,
    /// `true` if the change set waits for a lock that no query shows. Only another attempt reveals that the lock is gone.
    is_stuck: bool,
}

impl Waiting {
    const fn new(job: Job) -> Self {
        Self { job, is_stuck: false }
    }
}

impl<'e> Lane<'e> {
    pub(super) const fn new(
        queue: mpsc::Receiver<Message>,
        runner: Runner<'e>,
        max_batch: usize,
        pulse: Pulse,
    ) -> Self {
        Self { queue, runner, max_batch, aside: Vec::new(), had_aside: false, probes: Vec::new(), pulse }
    }

    /// Works until the queue is closed and all its messages are answered.
    pub(super) fn work(mut self) {
        while let Some(jobs) = self.next_jobs() {
            if !jobs.is_empty() {
                self.measure(jobs.len());
                let started = Instant::now();
                self.turn(jobs, started);
                metrics::histogram!("cais_commit_seconds").record(started.elapsed());
            }
            self.answer_probes();
        }
    }

    /// Waits for work. Returns the change sets that are set aside and those in the queue; `None` after the queue is closed and empty.
    fn next_jobs(&mut self) -> Option<Vec<Waiting>> {
        let mut jobs = std::mem::take(&mut self.aside);
        if jobs.is_empty() {
            let first = self.queue.blocking_recv()?;
            self.receive(first, &mut jobs);
            // Callers that have just received a verdict soon queue their next change set. The lane yields to them first: a batch of only
            // one change set would make the others wait. `yield_now` returns at once if no other thread is ready to run.
            thread::yield_now();
        } else {
            self.had_aside = true;
            if self.queue.is_empty() {
                thread::sleep(CHECK_EVERY);
            }
        }
        let most = jobs.len().saturating_add(self.max_batch);
        while jobs.len() < most
            && let Ok(next) = self.queue.try_recv()
        {
            self.receive(next, &mut jobs);
        }
        Some(jobs)
    }

    fn receive(&mut self, message: Message, jobs: &mut Vec<Waiting>) {
        match message {
            Message::Commit(job) => jobs.push(Waiting::new(*job)),
            Message::Probe(probe) => self.probes.push(probe),
        }
    }

    /// Commits an empty batch if callers wait for a probe, and sends them the result.
    fn answer_probes(&mut self) {
        self.probes.retain(|probe| !probe.is_closed());
        if self.probes.is_empty() {
            return;
        }
        let answer = self.runner.probe();
        self.pulse.record(answer.is_ok());
        for probe in self.probes.drain(..) {
            // The send fails if the caller stopped waiting. Such a caller sends a new probe later.
            let _ = probe.send(answer.clone());
        }
    }

    /// Refuses the late change sets, runs those that need no locked row, and sets the others aside.
    fn turn(&mut self, jobs: Vec<Waiting>, now: Instant) {
        // The late change sets were not written.
        let (mut jobs, late): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|waiting| waiting.job.deadline > now);
        for Waiting { job, .. } in late {
            drop(job.reply.send(Err(unavailable(LATE))));
        }
        let had_aside = std::mem::take(&mut self.had_aside);
        if had_aside {
            jobs = self.keep_aside(jobs);
        }
        while !jobs.is_empty() {
            let rest = jobs.split_off(self.max_batch.min(jobs.len()));
            self.commit(std::mem::replace(&mut jobs, rest));
        }
        if had_aside {
            self.try_stuck();
        } else if !self.aside.is_empty() {
            tracing::warn!(
                count = self.aside.len(),
                "rows stay locked by another transaction; their change sets are set aside"
            );
        }
    }

    /// Sets aside the change sets that still have to wait; returns the others.
    fn keep_aside(&mut self, jobs: Vec<Waiting>) -> Vec<Waiting> {
        let changes: Vec<&ChangeSet> = jobs.iter().map(|waiting| &waiting.job.change).collect();
        let stuck = jobs.iter().enumerate().filter(|(_, waiting)| waiting.is_stuck).map(|(place, _)| place);
        let waiting: BTreeSet<usize> = self.runner.waiting(&changes, stuck.collect());
        let mut free = Vec::with_capacity(jobs.len());
        for (place, job) in jobs.into_iter().enumerate() {
            if waiting.contains(&place) { self.set_aside(job) } else { free.push(job) }
        }
        free
    }

    fn commit(&mut self, jobs: Vec<Waiting>) {
        let Some(deadline) = jobs.iter().map(|waiting| waiting.job.deadline).max() else { return };
        let changes: Vec<&ChangeSet> = jobs.iter().map(|waiting| &waiting.job.change).collect();
        let outcomes = self.runner.run(&changes, deadline);
        // A change set that was refused or set aside does not show whether the database works.
        match outcomes
            .iter()
            .find(|outcome| matches!(outcome, Outcome::Judged(Ok(_) | Err(CommitError::Unavailable(_)))))
        {
            Some(Outcome::Judged(verdict)) => self.pulse.record(verdict.is_ok()),
            Some(Outcome::Locked | Outcome::Stuck) | None => {}
        }
        for (waiting, outcome) in jobs.into_iter().zip(outcomes) {
            self.handle_outcome(waiting.job, outcome);
        }
    }

    /// Runs the stuck change sets in order, until one of them has to wait again. That one moves behind all others.
    fn try_stuck(&mut self) {
        while let Some(place) = self.aside.iter().position(|waiting| waiting.is_stuck) {
            let Waiting { job, .. } = self.aside.remove(place);
            let outcome = self.runner.run_stuck(&job.change, job.deadline);
            let stays = !matches!(outcome, Outcome::Judged(_));
            self.handle_outcome(job, outcome);
            if stays {
                break;
            }
        }
    }

    fn handle_outcome(&mut self, job: Job, outcome: Outcome) {
        if !matches!(outcome, Outcome::Judged(_)) {
            metrics::counter!("cais_commit_set_aside_total").increment(1);
        }
        match outcome {
            // The send fails if the caller stopped waiting. That caller reads the outcome later.
            Outcome::Judged(verdict) => drop(job.reply.send(verdict)),
            Outcome::Locked => self.set_aside(Waiting::new(job)),
            Outcome::Stuck => self.set_aside(Waiting { job, is_stuck: true }),
        }
    }

    fn set_aside(&mut self, waiting: Waiting) {
        if self.aside.len() < MAX_ASIDE {
            self.aside.push(waiting);
        } else {
            drop(waiting.job.reply.send(Err(unavailable("too many changes wait for locked rows"))));
        }
    }

    fn measure(&self, size: usize) {
        let count = |length: usize| f64::from(u32::try_from(length).unwrap_or(u32::MAX));
        metrics::histogram!("cais_commit_batch_size").record(count(size));
        metrics::gauge!("cais_commit_queue_depth").set(count(self.queue.len()));
    }
}

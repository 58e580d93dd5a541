//! A thread with a connection and a bounded queue of work. The work runs in order, and each piece has a deadline.

use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cais_ports::{QueryError, alerts};
use tokio::sync::{mpsc, oneshot};

use super::QueueEngine;
use crate::error::Fault;
use crate::pulse::Pulse;
use crate::sql::Session;

/// The largest number of waiting pieces of work. A correct caller has at most one piece of each kind in progress.
/// Only a defect reaches the limit.
const WAITING: usize = 256;
/// The largest number of attempts at work that conflicts with another transaction.
const ATTEMPTS: u32 = 5;
/// The wait after the first conflict. Each further conflict doubles the wait.
const BACKOFF: Duration = Duration::from_millis(2);

type Connect = fn(&dyn QueueEngine) -> Result<Box<dyn Session>, Fault>;
type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// The thread and its queue.
pub(super) struct Link {
    /// `None` after the link is closed.
    jobs: RwLock<Option<mpsc::Sender<Job>>>,
    thread: RwLock<Option<JoinHandle<()>>>,
    deadline: Duration,
    pulse: Pulse,
}

impl Link {
    /// Starts the thread, which connects with `connect` when the first work arrives.
    pub(super) fn start(
        name: &str,
        engine: &Arc<dyn QueueEngine>,
        connect: Connect,
        deadline: Duration,
    ) -> Result<Self, Fault> {
        let (sender, mut jobs) = mpsc::channel::<Job>(WAITING);
        let pulse = Pulse::default();
        let mut connection =
            Connection { engine: Arc::clone(engine), connect, session: None, pulse: pulse.clone(), is_logged: false };
        let work = move || {
            while let Some(job) = jobs.blocking_recv() {
                job(&mut connection);
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = thread.map_err(|error| Fault::Down(error.to_string()))?;
        Ok(Self { jobs: RwLock::new(Some(sender)), thread: RwLock::new(Some(thread)), deadline, pulse })
    }

    /// Runs the work on the thread. Conflicts are retried.
    ///
    /// # Errors
    /// The error of the work. [`QueryError::Unavailable`] at once if too much work waits, and at the deadline if the work is not done by
    /// then.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Work<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, QueryError> {
        let deadline =
            Instant::now().checked_add(self.deadline).ok_or_else(|| unavailable("the deadline is out of range"))?;
        let (reply, answer) = oneshot::channel();
        let job = move |connection: &mut Connection| {
            let is_awaited = || !reply.is_closed() && Instant::now() < deadline;
            let done = connection.work(&is_awaited, &mut work);
            // The send fails if the caller stopped waiting. Such a caller needs no result.
            let _ = reply.send(done.map_err(QueryError::from));
        };
        self.enqueue(Box::new(job))?;
        match tokio::time::timeout(self.deadline, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(unavailable("the thread of the queue has ended")),
            Err(_) => Err(unavailable("the work of the delivery queue took too long")),
        }
    }

    fn enqueue(&self, job: Job) -> Result<(), QueryError> {
        let jobs = self.jobs.read().unwrap_or_else(PoisonError::into_inner);
        let jobs = jobs.as_ref().ok_or_else(|| unavailable("the store is closed"))?;
        jobs.try_send(job).map_err(|_| unavailable("too much work is waiting, or the thread of the queue has ended"))
    }

    /// Checks that the link has a working connection. A link without a fresh success ([`Pulse::is_fresh`]) executes a statement now.
    ///
    /// # Errors
    /// [`QueryError::Unavailable`] if the statement fails.
    pub(super) async fn probe(&self) -> Result<(), QueryError> {
        if self.pulse.is_fresh() {
            return Ok(());
        }
        self.run(|work| work.session(|session| Ok(session.run("SELECT 1")?))).await
    }

    /// Returns whether the thread is running.
    pub(super) fn is_open(&self) -> bool {
        self.jobs.read().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|jobs| !jobs.is_closed())
    }

    /// Accepts no more work, and returns when all accepted work is done.
    pub(super) fn close(&self) {
        self.jobs.write().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.write().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(
                alert = alerts::PANIC,
                "thread of the delivery queue panicked; detected while the store closes"
            );
        }
    }
}

/// The connection of a thread.
struct Connection {
    engine: Arc<dyn QueueEngine>,
    connect: Connect,
    session: Option<Box<dyn Session>>,
    pulse: Pulse,
    /// `true` if the current failure was logged. Reset by the next success.
    is_logged: bool,
}

impl Connection {
    /// Tries the work while a caller waits: at most [`ATTEMPTS`] times if it conflicts, and once more after a lost connection. After a lost
    /// connection the outcome is uncertain, so the work may be done twice.
    fn work<T>(
        &mut self,
        is_awaited: &dyn Fn() -> bool,
        work: &mut impl FnMut(&mut Work<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut last = Fault::Down("the work did not start before its deadline".into());
        let (mut tries, mut reconnected) = (0, false);
        while tries < ATTEMPTS && is_awaited() {
            match work(&mut Work { connection: self, is_awaited }) {
                Err(fault @ (Fault::Again(_) | Fault::Locked(_))) => {
                    thread::sleep(BACKOFF.saturating_mul(1 << tries));
                    tries = tries.saturating_add(1);
                    last = fault;
                }
                Err(fault @ Fault::Lost(_)) if !reconnected => {
                    if !std::mem::replace(&mut self.is_logged, true) {
                        tracing::warn!(%fault, "connection of the delivery queue lost; it is opened again");
                    }
                    reconnected = true;
                    last = fault;
                }
                done => {
                    self.is_logged &= matches!(done, Err(Fault::Lost(_) | Fault::Down(_)));
                    return done;
                }
            }
        }
        Err(last)
    }
}

/// A single attempt at a piece of work.
pub(super) struct Work<'w> {
    connection: &'w mut Connection,
    is_awaited: &'w dyn Fn() -> bool,
}

impl<'w> Work<'w> {
    /// Returns the engine.
    pub(super) fn engine(&self) -> Arc<dyn QueueEngine> {
        Arc::clone(&self.connection.engine)
    }

    /// Runs the work without a transaction. Drops the connection after a failure that makes it unusable.
    pub(super) fn session<T>(&mut self, work: impl FnOnce(&mut dyn Session) -> Result<T, Fault>) -> Result<T, Fault> {
        let Connection { engine, connect, session, pulse, .. } = &mut *self.connection;
        let mut connected = match session.take() {
            Some(connected) => connected,
            None => connect(&**engine).inspect_err(|_| pulse.record(false))?,
        };
        let done = work(&mut *connected);
        let works = !matches!(done, Err(Fault::Lost(_) | Fault::Down(_)));
        if works {
            *session = Some(connected);
        }
        pulse.record(works);
        done
    }

    /// Returns a function that checks whether a caller still waits.
    pub(super) fn is_awaited(&self) -> &'w dyn Fn() -> bool {
        self.is_awaited
    }

    /// Runs the work in a transaction.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let engine = self.engine();
        self.session(|session| {
            session.run(engine.begin())?;
            let done = work(session);
            let ended = match &done {
                Ok(_) => session.run(engine.commit()),
                Err(Fault::Lost(_) | Fault::Down(_)) => Ok(()),
                Err(_) => session.run("ROLLBACK"),
            };
            // If the end of the transaction fails, the state of the connection is uncertain. `Lost` makes [`Work::session`] drop the
            // connection.
            ended.map_err(|error| Fault::Lost(error.to_string()))?;
            done
        })
    }
}

fn unavailable(why: &str) -> QueryError {
    QueryError::Unavailable(why.to_owned())
}

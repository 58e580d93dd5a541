//! Tests reads of a lost database, and reads of callers that stopped waiting.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};

use cais_testkit::builders::{an_account, fresh};

use super::*;
use crate::committer::Op;
use crate::sql::Query;

/// A database that cannot be reached, with a count of the attempts to connect.
#[derive(Default)]
struct Unreachable(AtomicUsize);

impl Unreachable {
    fn refuse(&self) -> Result<Box<dyn Session>, Fault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Fault::Lost("gone".into()))
    }
}

impl Engine for Unreachable {
    fn connect_writer(&self) -> Result<Box<dyn Session>, Fault> {
        self.refuse()
    }
    fn connect_reader(&self) -> Result<Box<dyn Session>, Fault> {
        self.refuse()
    }
    fn connect_auditor(&self) -> Result<Box<dyn Session>, Fault> {
        self.refuse()
    }
    fn begin(&self) -> &'static str {
        ""
    }
    fn begin_snapshot(&self) -> &'static str {
        ""
    }
    fn commit(&self) -> &'static str {
        ""
    }
    fn apply(&self, _: &mut dyn Session, _: &[Op<'_>]) -> Result<bool, Fault> {
        Err(Fault::Lost("gone".into()))
    }
    fn lookup_queries<'k>(&self, _: &'k Lookup, _: &'k [Vec<String>], _: bool) -> Vec<Query<'k>> {
        Vec::new()
    }
}

type Answer = oneshot::Receiver<Result<Option<Charge>, QueryError>>;

/// Returns waiting reads of charges, and the receivers of their results.
fn waiting_reads(count: usize, wait: Duration) -> (Waiting<(AccountId, ChargeId), Charge>, Vec<Answer>) {
    let deadline = Instant::now() + wait;
    let one = || {
        let (reply, answer) = oneshot::channel();
        (PendingRead { key: (an_account().id, fresh()), deadline, reply }, answer)
    };
    std::iter::repeat_with(one).take(count).unzip()
}

#[test]
fn lost_database_is_tried_once_for_all_waiting_reads() {
    let gone = Arc::new(Unreachable::default());
    let (waiting, answers) = waiting_reads(MAX_READS, Duration::from_mins(1));
    Worker { engine: Arc::<Unreachable>::clone(&gone), session: None }.charges(waiting);
    for mut answer in answers {
        assert!(matches!(answer.try_recv().unwrap(), Err(QueryError::Unavailable(_))));
    }
    assert_eq!(gone.0.load(Ordering::SeqCst), 1);
}

#[test]
fn abandoned_reads_are_not_executed() {
    let gone = Arc::new(Unreachable::default());
    let mut worker = Worker { engine: Arc::<Unreachable>::clone(&gone), session: None };
    let (late, _answers) = waiting_reads(3, Duration::ZERO);
    worker.charges(late);
    let (left, answers) = waiting_reads(3, Duration::from_mins(1));
    drop(answers);
    worker.charges(left);
    assert_eq!(gone.0.load(Ordering::SeqCst), 0);
}

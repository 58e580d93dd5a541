//! Determines the outcome of a batch whose COMMIT got no reply: a later transaction aborts the batch, unless the batch is committed.
//!
//! A batch writes its id as committed in its own transaction. [`abort_if_uncommitted`] inserts the same id as aborted in a transaction of
//! its own. If the lost transaction is still open, the insert waits for its end. If the insert succeeds, the lost transaction can never
//! commit. If the id exists, its stored outcome holds. The presence of the id alone does not prove a commit: after a lost reply to an
//! abort, the next abort finds the id that the first abort inserted.

use jiff::Timestamp;

use super::ops::Op;
use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::spec::{Kind, Spec};
use crate::sql::{NumberRow, Query, Session};

/// The outcome that a batch writes itself.
const COMMITTED: &str = "committed";
/// The outcome that only [`abort_if_uncommitted`] writes.
const ABORTED: &str = "aborted";

static MARK: Spec = Spec::insert_unless_there(
    "commit_batches",
    &[("id", Kind::Text), ("outcome", Kind::Text), ("decided_at", Kind::Int)],
);

const FIND: &str = "SELECT id, outcome, decided_at FROM commit_batches WHERE id = ?";

/// The outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchOutcome {
    /// The whole batch is durable.
    Committed,
    /// The batch is not stored and never will be.
    Aborted,
    /// The id was removed meanwhile, or has an outcome that no code writes. The batch may be committed or aborted.
    Unknown,
}

/// Returns the statement that marks a batch as committed, as part of the batch.
pub(super) fn committed(batch: &str, at: Timestamp) -> Op<'_> {
    mark(batch, COMMITTED, at)
}

/// Marks a batch as aborted unless it is committed, and returns its outcome. The call may be repeated after any failure.
///
/// # Errors
/// [`Fault`] if the outcome cannot be determined now.
pub(super) fn abort_if_uncommitted(
    engine: &dyn Engine,
    session: &mut dyn Session,
    batch: &str,
    at: Timestamp,
) -> Result<BatchOutcome, Fault> {
    if engine.apply(session, &[mark(batch, ABORTED, at)])? {
        return Ok(BatchOutcome::Aborted);
    }
    // Only a separate statement sees the row that the insert conflicted with.
    let found = session.load::<NumberRow>(&Query::new(FIND).bind(batch))?.pop();
    Ok(stored(found.as_ref().map(|(_, outcome, _)| outcome.as_str())))
}

/// Reads the outcome that was stored before.
fn stored(outcome: Option<&str>) -> BatchOutcome {
    match outcome {
        Some(COMMITTED) => BatchOutcome::Committed,
        Some(ABORTED) => BatchOutcome::Aborted,
        Some(_) | None => BatchOutcome::Unknown,
    }
}

fn mark<'a>(batch: &'a str, outcome: &'static str, at: Timestamp) -> Op<'a> {
    Op::guarded(&MARK, vec![vec![batch.into(), outcome.into(), at.into()]])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::builders::start;

    use super::{BatchOutcome, abort_if_uncommitted, committed, stored};
    use crate::engine::Engine as _;
    use crate::sqlite::Sqlite;
    use crate::{DatabaseUrl, migrations};

    #[test]
    fn batch_counts_as_committed_only_by_its_mark() {
        assert_eq!(stored(Some("committed")), BatchOutcome::Committed);
        assert_eq!(stored(Some("aborted")), BatchOutcome::Aborted);
        assert_eq!(stored(Some("else")), BatchOutcome::Unknown);
        assert_eq!(stored(None), BatchOutcome::Unknown);
    }

    #[test]
    fn repeated_abort_returns_the_same_outcome() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        migrations::migrate(&DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap(), "test").unwrap();
        let engine = Sqlite::new(&path, Duration::from_secs(1));
        let mut session = engine.connect_writer().unwrap();
        let mut abort = |batch| abort_if_uncommitted(&engine, &mut *session, batch, start());
        assert_eq!([abort("lost"), abort("lost")], [Ok(BatchOutcome::Aborted), Ok(BatchOutcome::Aborted)]);
        let mut session = engine.connect_writer().unwrap();
        assert_eq!(
            engine.apply(&mut *session, &[committed("lost", start())]),
            Ok(false),
            "an aborted batch stays aborted"
        );
        assert_eq!(engine.apply(&mut *session, &[committed("kept", start())]), Ok(true));
        assert_eq!([abort("kept"), abort("kept")], [Ok(BatchOutcome::Committed), Ok(BatchOutcome::Committed)]);
    }
}

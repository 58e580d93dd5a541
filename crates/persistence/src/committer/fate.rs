//! What became of a batch whose COMMIT got no reply: its id is *burned* on another connection, which tells for certain.
//!
//! The batch writes its id as committed in its own transaction. A burn inserts the same id as burned in a transaction of its own: the
//! insert waits for the lost transaction if it still lives. Either it takes the id, so the lost transaction can never commit; or the id
//! is there, and its outcome says whose it is. That matters because the reply to a burn may be lost as well: the next burn then
//! finds the id of the one before it, and the batch is still not committed.

use jiff::Timestamp;

use super::ops::Op;
use crate::engine::Engine;
use crate::error::Fault;
use crate::sql::spec::{Kind, Spec};
use crate::sql::{Query, Session};

/// The outcome that a batch writes itself.
const COMMITTED: &str = "committed";
/// The outcome that only a burn writes.
const BURNED: &str = "burned";

static MARK: Spec = Spec::insert_unless_there(
    "commit_batches",
    &[("id", Kind::Text), ("outcome", Kind::Text), ("decided_at", Kind::Int)],
);

const FIND: &str = "SELECT id, outcome, decided_at FROM commit_batches WHERE id = ?";

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// All of it is durable.
    Committed,
    /// Nothing of it is there, nor ever will be.
    Burned,
    /// Its id was taken and is gone, or says what nobody writes: it may have been either.
    Unknown,
}

/// The statement that marks a batch as committed, to be part of it.
pub(super) fn committed(batch: &str, at: Timestamp) -> Op<'_> {
    mark(batch, COMMITTED, at)
}

/// Finds out what became of a batch, and burns its id unless it is committed. May be repeated after any failure.
///
/// # Errors
/// [`Fault`] when it is not known yet.
pub(super) fn burn(engine: &dyn Engine, session: &mut dyn Session, batch: &str, at: Timestamp) -> Result<Fate, Fault> {
    if engine.apply(session, &[mark(batch, BURNED, at)])? {
        return Ok(Fate::Burned);
    }
    // A statement of its own sees what the insert ran into.
    let found = session.marks(&Query::new(FIND).bind(batch))?.pop();
    Ok(fate(found.as_ref().map(|(_, outcome, _)| outcome.as_str())))
}

/// What the outcome says that was there before the burn.
fn fate(outcome: Option<&str>) -> Fate {
    match outcome {
        Some(COMMITTED) => Fate::Committed,
        Some(BURNED) => Fate::Burned,
        Some(_) | None => Fate::Unknown,
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

    use super::{Fate, burn, committed, fate};
    use crate::engine::Engine as _;
    use crate::sqlite::Sqlite;
    use crate::{DatabaseUrl, migrations};

    #[test]
    fn only_the_batchs_own_mark_means_that_it_is_committed() {
        assert_eq!(fate(Some("committed")), Fate::Committed);
        assert_eq!(fate(Some("burned")), Fate::Burned);
        assert_eq!(fate(Some("else")), Fate::Unknown);
        assert_eq!(fate(None), Fate::Unknown);
    }

    #[test]
    fn a_burn_says_the_same_however_often_it_is_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        migrations::migrate(&DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap(), "test").unwrap();
        let engine = Sqlite::new(&path, Duration::from_secs(1));
        let mut session = engine.connect_writer().unwrap();
        let mut burned = |batch| burn(&engine, &mut *session, batch, start());
        assert_eq!([burned("lost"), burned("lost")], [Ok(Fate::Burned), Ok(Fate::Burned)]);
        let mut session = engine.connect_writer().unwrap();
        assert_eq!(engine.apply(&mut *session, &[committed("lost", start())]), Ok(false), "a burned id stays burned");
        assert_eq!(engine.apply(&mut *session, &[committed("kept", start())]), Ok(true));
        assert_eq!([burned("kept"), burned("kept")], [Ok(Fate::Committed), Ok(Fate::Committed)]);
    }
}

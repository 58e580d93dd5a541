//! The checks that operators start. Each check runs at most once at a time in a process, and its last result stays in
//! memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::rt;
use jiff::Timestamp;

use crate::pages::operator::ledger::LedgerCheck;
use crate::pages::operator::reconciliation::ComparedDay;

/// The time for which the request that starts a check waits for the check's result. A check that needs more time
/// continues after the request.
const RESPOND_WITHIN: Duration = Duration::from_secs(9);

/// The checks of a process.
#[derive(Debug, Default)]
pub struct Checks {
    /// The ledger check.
    pub(crate) ledger: Check<LedgerCheck>,
    /// The comparison of one day's records with the lists of the acquirers and of the crypto processor.
    pub(crate) reconciliation: Check<ComparedDay>,
}

/// A check and its last result. Clones share one state.
#[derive(Debug)]
pub(crate) struct Check<T>(Arc<Mutex<State<T>>>);

/// The state of a check.
#[derive(Debug)]
pub(crate) struct State<T> {
    /// The start of the running check; `None` if the check is not running.
    pub(crate) running_since: Option<Timestamp>,
    /// The start of the last check that ended, and its result or the reason of its failure. `None` until the first
    /// check has ended.
    pub(crate) last: Option<(Timestamp, Result<Arc<T>, String>)>,
}

impl<T> Default for Check<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { running_since: None, last: None })))
    }
}

impl<T> Clone for Check<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self { running_since: self.running_since, last: self.last.clone() }
    }
}

impl<T: 'static> Check<T> {
    /// Returns the present state.
    pub(crate) fn state(&self) -> State<T> {
        self.lock().clone()
    }

    /// Runs `work` as the check, and waits up to `RESPOND_WITHIN` for its end. If the check is running already, returns
    /// at once and does not run `work`.
    pub(crate) async fn start(&self, now: Timestamp, work: impl Future<Output = Result<T, String>> + 'static) {
        {
            let mut state = self.lock();
            if state.running_since.is_some() {
                return;
            }
            state.running_since = Some(now);
        }
        let check = self.clone();
        let ended = rt::spawn(async move {
            // The work runs in an inner task, so that a panic of the work ends the check too.
            let result = rt::spawn(work).await.unwrap_or_else(|error| Err(error.to_string()));
            if let Err(error) = &result {
                tracing::warn!(%error, "operator's check failed; the page of the check shows the error");
            }
            *check.lock() = State { running_since: None, last: Some((now, result.map(Arc::new))) };
        });
        // After the limit the task continues, and the page shows that the check is running.
        drop(tokio::time::timeout(RESPOND_WITHIN, ended).await);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use futures_util::future::join;
    use tokio::sync::oneshot;

    use super::*;

    #[actix_web::test]
    async fn check_runs_once_at_a_time_and_keeps_its_result() {
        let check = Check::default();
        let (first, second) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let (finish, finished) = oneshot::channel();
        let begun = check.start(first, async move { Ok(finished.await.unwrap()) });
        let other = async {
            check.start(second, async { panic!("a second check") }).await;
            assert_eq!(check.state().running_since, Some(first));
            finish.send(7).unwrap();
        };
        join(begun, other).await;
        let state = check.state();
        assert_eq!((state.running_since, state.last), (None, Some((first, Ok(Arc::new(7))))));
    }

    #[actix_web::test]
    async fn failed_check_can_be_started_again() {
        let check = Check::<u8>::default();
        check.start(Timestamp::UNIX_EPOCH, async { panic!("a bug") }).await;
        assert!(matches!(check.state().last, Some((_, Err(_)))));
        check.start(Timestamp::MAX, async { Ok(1) }).await;
        assert_eq!(check.state().last, Some((Timestamp::MAX, Ok(Arc::new(1)))));
    }
}

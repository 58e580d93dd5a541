//! Records whether an institution answered the HTTP requests of one call. The content of the answers does not matter.

use std::cell::Cell;

use reqwest::StatusCode;

tokio::task_local! {
    static CALL: Cell<Exchanges>;
}

/// The HTTP requests of one call: whether any was answered, and whether any was not.
#[derive(Debug, Clone, Copy, Default)]
struct Exchanges {
    answered: bool,
    unanswered: bool,
}

/// Runs `call`. Returns its output, and `true` if the call made requests and all of them were answered.
///
/// Requests of other tasks do not count, for example a token request that serves many calls.
pub(crate) async fn observe<T>(call: impl Future<Output = T>) -> (T, bool) {
    let observed = async {
        let output = call.await;
        (output, CALL.with(Cell::get))
    };
    let (output, seen) = CALL.scope(Cell::default(), observed).await;
    (output, seen.answered && !seen.unanswered)
}

/// Records the end of an HTTP request. `status` is `None` if no complete answer arrived.
///
/// Every status below 500 counts as answered, except 401 and 429, because other requests would get these statuses too.
pub(super) fn note(status: Option<StatusCode>) {
    let answered = status.is_some_and(|status| {
        status.as_u16() < 500 && status != StatusCode::UNAUTHORIZED && status != StatusCode::TOO_MANY_REQUESTS
    });
    // Outside of an observed call, as in the task that requests a token, `try_with` fails and nothing is recorded.
    let _unobserved = CALL.try_with(|call| {
        let seen = call.get();
        call.set(Exchanges { answered: seen.answered || answered, unanswered: seen.unanswered || !answered });
    });
}

#[cfg(test)]
mod tests {
    use super::{note, observe};
    use reqwest::StatusCode;

    #[tokio::test]
    async fn call_is_answered_when_every_exchange_is() {
        for (statuses, wanted) in [
            (vec![Some(200)], true),
            (vec![Some(404), Some(403), Some(302)], true),
            (vec![Some(499)], true),
            (vec![Some(500)], false),
            (vec![Some(401)], false),
            (vec![Some(429)], false),
            (vec![None], false),
            (vec![None, Some(200)], false),
            (vec![Some(200), None], false),
            (vec![], false),
        ] {
            let shown = format!("{statuses:?}");
            let call = async {
                for status in statuses {
                    note(status.map(|status| StatusCode::from_u16(status).unwrap_or_default()));
                }
            };
            assert_eq!(observe(call).await, ((), wanted), "{shown}");
        }
        // Outside of a call, exchanges are not recorded.
        note(Some(StatusCode::OK));
    }
}

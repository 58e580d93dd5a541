//! Shared parts of black-box tests: a server on each database, a merchant with a key, and parsed answers.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod altering_proxy;
mod http;
mod institution;
mod node;
mod receiver;
mod shop;
mod tls_front;

pub use altering_proxy::AlteringProxy;
pub use http::{Reply, client, names};
pub use institution::{Institution, borrowed};
pub use node::{Engine, Node, OPEN, own, shared, unstarted};
pub use receiver::{Behavior, Received, Receiver};
pub use shop::{Shop, centavos, id};
pub use tls_front::TlsFront;

use std::future::Future;
use std::time::{Duration, Instant};

/// The time limit of a condition, also on a busy machine.
pub const DEADLINE: Duration = Duration::from_mins(1);
/// The pause before the second check of a condition. Each further pause is longer.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The longest pause. A wait makes at most some 250 requests in `DEADLINE`: well below the limit of 600 per key and
/// minute.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Defines two tests of each function, one on each database.
macro_rules! on_both {
    ($($name:ident)*) => { $(
        mod $name {
            #[tokio::test]
            async fn sqlite() {
                super::$name(crate::support::Engine::Sqlite).await;
            }

            #[tokio::test]
            async fn postgres() {
                super::$name(crate::support::Engine::Postgres).await;
            }
        }
    )* };
}
pub(crate) use on_both;

/// Calls `poll` until it returns a value. Fails after [`DEADLINE`].
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut poll: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(found) = poll().await {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(pause).await;
        pause = (pause * 5 / 4).min(LONGEST_PAUSE);
    }
}

/// Returns a name that is unique in this test run.
pub fn unique(word: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    format!("{word}-{}-{}", std::process::id(), NUMBERS.fetch_add(1, Ordering::Relaxed))
}

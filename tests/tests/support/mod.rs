//! What every black-box test stands on: a server on each database, a merchant with a key, and answers taken apart.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod http;
mod institution;
mod node;
mod receiver;
mod shop;

pub use http::{Reply, client, names};
pub use institution::{Institution, borrowed};
pub use node::{Engine, Node, OPEN, own, shared, unstarted};
pub use receiver::{Manner, Received, Receiver};
pub use shop::{Shop, centavos, id};

use std::future::Future;
use std::time::{Duration, Instant};

/// How long a condition may take to come true, also on a machine that is busy with other tests.
pub const DEADLINE: Duration = Duration::from_mins(1);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Two tests of each function, one on each database.
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

/// Looks until `look` finds something; a test that waits for ever fails instead.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Something that nothing else in this test run is called.
pub fn unique(word: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    format!("{word}-{}-{}", std::process::id(), NUMBERS.fetch_add(1, Ordering::Relaxed))
}

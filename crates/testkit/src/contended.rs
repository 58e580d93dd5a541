//! A store under contention, for tests of races between tasks of one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use cais_ports::{ChangeSet, CommitError, Committed, Store};

use crate::MemoryStore;

/// A store that lets all other tasks run before each commit. Between the commit and its return, the other tasks run
/// again: zero, one, two and three times, in turn.
#[derive(Debug)]
pub struct ContendedStore {
    store: Arc<MemoryStore>,
    commits: AtomicUsize,
}

impl ContendedStore {
    /// Creates the contended view of a store.
    #[must_use]
    pub const fn new(store: Arc<MemoryStore>) -> Self {
        Self { store, commits: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Store for ContendedStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        tokio::task::yield_now().await;
        let committed = self.store.commit(change).await;
        for _ in 0..self.commits.fetch_add(1, Ordering::Relaxed) % 4 {
            tokio::task::yield_now().await;
        }
        committed
    }
}

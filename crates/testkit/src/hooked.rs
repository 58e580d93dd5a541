//! A store with hooks around its commits.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cais_ports::{ChangeSet, CommitError, Committed, Store};

use crate::MemoryStore;

type Hook = Mutex<Box<dyn FnMut() + Send>>;

/// A store that runs a hook before it checks a commit, and another hook before the commit's caller has the result.
pub struct HookedStore {
    store: Arc<MemoryStore>,
    before: Hook,
    after: Hook,
}

impl HookedStore {
    /// Creates the hooked view of a store.
    pub fn new(
        store: Arc<MemoryStore>,
        before: impl FnMut() + Send + 'static,
        after: impl FnMut() + Send + 'static,
    ) -> Self {
        Self { store, before: Mutex::new(Box::new(before)), after: Mutex::new(Box::new(after)) }
    }
}

/// Returns a hook that runs once.
pub fn once(hook: impl FnOnce() + Send + 'static) -> impl FnMut() + Send + 'static {
    let mut hook = Some(hook);
    move || {
        if let Some(hook) = hook.take() {
            hook();
        }
    }
}

fn run(hook: &Hook) {
    (hook.lock().unwrap_or_else(PoisonError::into_inner))();
}

#[async_trait]
impl Store for HookedStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        run(&self.before);
        let committed = self.store.commit(change).await;
        run(&self.after);
        committed
    }
}

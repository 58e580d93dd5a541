//! Tests that the store in memory keeps the contract of stores, and fails on request.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use async_trait::async_trait;
use cais_ports::{
    AccountQueries as _, CommitError, DeliveryQueue as _, EventQueries as _, Maintenance as _, Store as _,
};
use cais_testkit::builders::{an_account, fresh, steps};
use cais_testkit::contract::{Engine, WholeStore};
use cais_testkit::{Crash, MemoryStore};

struct InMemory(Arc<MemoryStore>);

#[async_trait]
impl Engine for InMemory {
    async fn open(&self) -> anyhow::Result<Arc<dyn WholeStore>> {
        Ok(Arc::<MemoryStore>::clone(&self.0))
    }

    async fn close(&self) -> anyhow::Result<()> {
        Ok(())
    }
}

fn engine() -> Box<dyn Engine> {
    Box::new(InMemory(Arc::default()))
}

cais_testkit::store_suite!(engine);

#[tokio::test]
async fn commit_is_interrupted_at_planned_point() {
    let store = MemoryStore::default();
    store.crash_at(1, Crash::Before);
    store.crash_at(3, Crash::After);
    for (became_true, answered) in [(false, false), (true, true), (true, false), (true, true)] {
        let account = an_account();
        let outcome = store.commit(steps::open_account(&account)).await;
        assert_eq!(outcome.is_ok(), answered);
        let unknown = matches!(outcome, Err(CommitError::Unavailable(_)));
        assert_eq!(unknown, !answered);
        let found = store.find_account(account.id).await.unwrap();
        assert_eq!(found.is_some(), became_true);
    }
    assert_eq!(store.commits(), 4);
}

#[tokio::test]
async fn unreachable_store_returns_unavailable() {
    let store = MemoryStore::default();
    let account = an_account();
    store.set_unreachable(true);
    let refused = store.commit(steps::open_account(&account)).await;
    assert!(matches!(refused, Err(CommitError::Unavailable(_))));
    assert!(store.ready().await.is_err());
    assert!(store.find_account(account.id).await.is_err());
    assert!(store.due_queues(account.created_at, None, 5).await.is_err());
    assert!(store.find_event(account.id, fresh()).await.is_err());
    store.set_unreachable(false);
    assert_eq!(store.find_account(account.id).await.unwrap(), None);
}

//! Stores for tests, each in its own place.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::ids::Id;
use cais_persistence::{DatabaseUrl, Persistence, StoreConfig, migrations};
use cais_ports::{IdGenerator, Maintenance as _, QueryError};
use cais_testkit::contract::{Engine, WholeStore};
use uuid::Uuid;

/// The longest time until a change is noticed, even on a busy machine.
const NOTICED_WITHIN: Duration = Duration::from_mins(1);

/// Identifiers from the builders' source, so that those of a test and of its store never collide.
struct FreshIds;

impl IdGenerator for FreshIds {
    fn next_uuid(&self) -> Uuid {
        let id: Id<cais_domain::ids::kind::Entry> = cais_testkit::builders::fresh();
        id.uuid()
    }
}

/// Returns the source of all ids in tests.
pub fn ids() -> Arc<dyn IdGenerator> {
    Arc::new(FreshIds)
}

/// Returns the defaults for that URL.
pub fn config(url: &str) -> StoreConfig {
    StoreConfig::new(DatabaseUrl::parse(url).unwrap())
}

/// Migrates the store at that URL, and returns its configuration.
pub fn migrated(url: &str) -> StoreConfig {
    let config = config(url);
    migrations::migrate(&config.url, "test").unwrap();
    config
}

/// A kind of store for the contract. The content of `place` is dropped with the store.
pub struct ContractStore<P> {
    config: StoreConfig,
    opened: Mutex<Option<Persistence>>,
    kept: P,
}

impl<P: Send + Sync + 'static> ContractStore<P> {
    pub fn boxed(config: StoreConfig, place: P) -> Box<dyn Engine> {
        Box::new(Self { config, opened: Mutex::new(None), kept: place })
    }
}

#[async_trait]
impl<P: Send + Sync> Engine for ContractStore<P> {
    async fn open(&self) -> anyhow::Result<Arc<dyn WholeStore>> {
        let config = self.config.clone();
        let store = tokio::task::spawn_blocking(move || Persistence::open(&config, &ids())).await??;
        *self.opened.lock().unwrap() = Some(store.clone());
        Ok(Arc::new(store))
    }

    async fn close(&self) -> anyhow::Result<()> {
        let opened = self.opened.lock().unwrap().take();
        let _alive = &self.kept;
        if let Some(store) = opened {
            store.close().await;
        }
        Ok(())
    }
}

/// Waits until the store's readiness satisfies `wanted`.
pub async fn wait_until_ready(store: &Persistence, wanted: impl Fn(&Result<(), QueryError>) -> bool) {
    let started = Instant::now();
    loop {
        let answer = store.ready().await;
        if wanted(&answer) {
            return;
        }
        assert!(started.elapsed() < NOTICED_WITHIN, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

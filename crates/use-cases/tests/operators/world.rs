//! An empty store, and a second operator whose changes always come first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use cais_domain::document::Document;
use cais_domain::merchant::account::{Account, Features};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::acquirers::MockAcquirers;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{AccountQueries as _, ChangeSet, CommitError, Committed, Operator, Store, Write};
use cais_testkit::{ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds, TextRepresentation};
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::accounts::create::{CreateAccount, CreateAccountError, create};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::upstream::UpstreamLimits;

pub const EMAIL: &str = "shop@example.com";

pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
}

impl World {
    pub fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(ManualClock::default());
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            // Without an expectation, so that a request to an acquirer fails the test.
            acquirers: Arc::new(MockAcquirers::new()),
            crypto: None,
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            keyed_hash: Arc::new(PlainKeyedHash::default()),
            representation: Arc::new(TextRepresentation),
            deliveries: store.clone(),
            // Without an expectation, so that a call to a receiver fails the test.
            webhooks: Arc::new(MockWebhookSender::new()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        Self { ports, store, clock }
    }

    /// Creates a world with one account.
    pub async fn with_account() -> Self {
        let world = Self::new();
        world.create(EMAIL, true).await.unwrap();
        world
    }

    pub async fn create(&self, email: &str, approve: bool) -> Result<Account, CreateAccountError> {
        let command = CreateAccount {
            email: self::email(email),
            name: name("Shop"),
            document: Document::parse("11.222.333/0001-81").unwrap(),
            approve,
        };
        create(&self.ports, &operator(), command).await
    }

    pub async fn stored(&self) -> Account {
        self.store.find_account_by_email(EMAIL).await.unwrap().unwrap()
    }

    /// Returns ports with another operator who changes the account just before each of the next `times` commits.
    pub fn raced(&self, times: u32) -> Ports {
        let store = Arc::new(Raced { store: self.store.clone(), left: AtomicU32::new(times) });
        Ports { store, ..self.ports.clone() }
    }
}

/// Returns the operator of the tests.
pub fn operator() -> Operator {
    Operator { name: "ana".to_owned(), source: "cli".to_owned(), host: "desk".to_owned() }
}

pub fn email(text: &str) -> AccountEmail {
    AccountEmail::parse(text).unwrap()
}

pub fn name(text: &str) -> Text {
    Text::parse(text, 200, LineBreaks::Refused).unwrap()
}

struct Raced {
    store: Arc<MemoryStore>,
    left: AtomicU32,
}

#[async_trait]
impl Store for Raced {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            let account = self.store.find_account_by_email(EMAIL).await.unwrap().unwrap();
            let features = account.features.union(Features::parse("split").unwrap());
            let mut other = ChangeSet::new(change.at);
            other.writes.push(Write::update(Account { features, ..account }));
            self.store.commit(other).await.unwrap();
        }
        self.store.commit(change).await
    }
}

//! A single account over an empty store, with simulated acquirers and a manual clock.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_domain::money::Money;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{Acquirers, Fingerprint, Maintenance as _, Store as _, UrlRefusal};
use cais_testkit::builders::{an_account, fresh, main_acquirer, steps};
use cais_testkit::{
    FakeAcquirers, FakePsp, ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds,
    TextRepresentation,
};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::callbacks::{process, receive};
use cais_use_cases::charges::create::{CreateCharge, CreateChargeError, NewCharge, create};
use cais_use_cases::charges::fetch::{FetchError, fetch};
use cais_use_cases::charges::{ChargeName, expire};
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate, resume};

/// A time just longer than the lease of a creation.
pub const PAST_LEASE: Duration = Duration::from_secs(31);

/// The surroundings of a test.
pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub psp: FakePsp,
    /// The acquirer for charges that the first acquirer certainly did not accept.
    pub second: FakePsp,
    pub account: Account,
}

impl World {
    /// Creates an approved account without fees, and one acquirer.
    pub async fn new() -> Self {
        Self::with(an_account(), 1).await
    }

    /// Creates the account, and this number of acquirers.
    pub async fn with(account: Account, psps: usize) -> Self {
        let clock = Arc::new(ManualClock::default());
        let psp = FakePsp::new(&main_acquirer(), Arc::clone(&clock));
        let second = FakePsp::new(&AcquirerName::parse("second").unwrap(), Arc::clone(&clock));
        let all = [psp.clone(), second.clone()];
        let store = Arc::new(MemoryStore::default());
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            acquirers: Arc::new(FakeAcquirers::new(&all[..psps])),
            crypto: None,
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            keyed_hash: Arc::new(PlainKeyedHash::default()),
            representation: Arc::new(TextRepresentation),
            deliveries: store.clone(),
            webhooks: Arc::new(receivers()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        store.commit(steps::open_account(&account)).await.unwrap();
        Self { ports, store, clock, psp, second, account }
    }

    /// Returns the ports with other acquirers.
    pub fn asking(&self, acquirers: Arc<dyn Acquirers>) -> Ports {
        Ports { acquirers, ..self.ports.clone() }
    }

    /// Posts a charge with the key.
    pub async fn create(&self, key: &str, terms: NewCharge) -> Result<Response, CreateChargeError> {
        Box::pin(create(&self.ports, self.command(key, terms))).await
    }

    pub fn command(&self, key: &str, terms: NewCharge) -> CreateCharge {
        CreateCharge {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("test-key-{key}")).unwrap(),
            fingerprint: fingerprint(&terms),
            terms,
        }
    }

    /// Creates a pending charge of R$ 10.00.
    pub async fn pending(&self) -> Charge {
        let key = format!("pending-{}", self.store.commits());
        let answer = self.create(&key, ten_reais()).await.unwrap();
        self.charge(id_of(&answer))
    }

    /// Returns the stored charge, visible or not.
    pub fn charge(&self, id: ChargeId) -> Charge {
        self.store.charges().into_iter().find(|charge| charge.id == id).unwrap()
    }

    pub fn status(&self, id: ChargeId) -> ChargeStatus {
        self.charge(id).state.status()
    }

    /// Returns the only charge.
    pub fn only_charge(&self) -> Charge {
        let charges = self.store.charges();
        assert_eq!(charges.len(), 1, "{charges:?}");
        charges[0].clone()
    }

    /// Reads a charge, with no earlier read in the same second.
    pub async fn read(&self, id: ChargeId) -> Result<Charge, FetchError> {
        fetch(&self.ports, &SyncGate::new(), self.account.id, &ChargeName::Id(id)).await
    }

    /// Reads a charge by its external id.
    pub async fn read_external(&self, external: &str) -> Result<Charge, FetchError> {
        let name = ChargeName::External(ExternalId::parse(external).unwrap());
        fetch(&self.ports, &SyncGate::new(), self.account.id, &name).await
    }

    /// Receives a callback with these charges, without processing it.
    pub async fn call_back(&self, body: &str) {
        receive(&self.ports, &main_acquirer(), body.as_bytes().to_vec()).await.unwrap();
    }

    /// Runs one pass of every worker that follows acquirers.
    pub async fn work(&self) {
        process::run_once(&self.ports).await.unwrap();
        resume::run_once(&self.ports).await.unwrap();
        expire::run_once(&self.ports).await.unwrap();
    }

    /// Returns the available balance in centavos.
    pub fn available(&self) -> i64 {
        available(&self.store, self.account.id)
    }

    /// Returns the published events in order.
    pub fn event_types(&self) -> Vec<EventType> {
        self.store.events(self.account.id).iter().map(|stored| stored.event.kind).collect()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly.
    pub async fn check(&self) {
        let report = self.store.verify_ledger().await.unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
    }
}

pub fn available(store: &MemoryStore, account: AccountId) -> i64 {
    store.balance(&LedgerAccount::Merchant(account, Bucket::Available)).centavos()
}

/// Returns a sender that checks addresses and fails on each call.
fn receivers() -> MockWebhookSender {
    let judge = |url: &WebhookUrl| {
        let inside = url.as_str().contains("inside");
        if inside { Err(UrlRefusal::NotPublic) } else { Ok(()) }
    };
    let mut mock = MockWebhookSender::new();
    mock.expect_permits().returning(judge);
    mock.expect_vet().returning(judge);
    mock
}

/// Returns terms of R$ 10.00 for an hour, without optional fields.
pub fn ten_reais() -> NewCharge {
    reais(10)
}

pub fn reais(reais: i64) -> NewCharge {
    NewCharge {
        amount: Money::from_centavos(reais * 100),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback_url: None,
        split: Vec::new(),
    }
}

pub fn named(external: &str, terms: NewCharge) -> NewCharge {
    NewCharge { external_id: Some(ExternalId::parse(external).unwrap()), ..terms }
}

/// Returns the id of the charge in a response.
pub fn id_of(answer: &Response) -> ChargeId {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    ChargeId::parse(body["id"].as_str().unwrap()).unwrap()
}

fn fingerprint(terms: &NewCharge) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    format!("{terms:?}").hash(&mut hasher);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Fingerprint(bytes)
}

//! A single account with money over an empty store, with simulated acquirers and a manual clock.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::ChargeTerms;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ids::PayoutId;
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::pix_key::PixKey;
use cais_domain::rate::Percentage;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{
    CallbackState, ChangeSet, Clock as _, CommitError, Committed, Fingerprint, Maintenance as _, PageRequest, Store,
    UpstreamPayout, UpstreamProgress,
};
use cais_testkit::builders::{
    a_payment, a_recipient, an_account, an_end_to_end_id, fresh, main_acquirer, pending_charge, steps, terms,
};
use cais_testkit::psp::Listing;
use cais_testkit::{
    FakeAcquirers, FakePsp, ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds,
    TextRepresentation,
};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::callbacks::{process, receive};
use cais_use_cases::payouts::create::{CreatePayout, CreatePayoutError, NewPayout, create};
use cais_use_cases::payouts::fetch::{FetchError, fetch};
use cais_use_cases::payouts::list::list;
use cais_use_cases::payouts::{PayoutName, poll};
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate, resume};
use futures_util::FutureExt as _;

/// A time just longer than the lease of a creation.
pub const PAST_LEASE: Duration = Duration::from_secs(31);
/// A time longer than every pause of a worker.
pub const LONG: Duration = Duration::from_mins(6);
/// The initial balance in centavos: one payout of R$ 10.00 with its fee, and R$ 9.50 more.
pub const FUNDS: i64 = 2_000;
/// The fee of every payout, in centavos.
pub const FEE: i64 = 50;

/// The surroundings of a test. Clones share them.
#[derive(Clone)]
pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub psp: FakePsp,
    /// The acquirer for requests while the first acquirer is unavailable.
    pub second: FakePsp,
    pub account: Account,
}

impl World {
    /// Creates an approved account with [`FUNDS`] and a fee of [`FEE`].
    pub async fn new() -> Self {
        let fee = FeeRule::try_new(Money::from_centavos(FEE), Percentage::zero(), None, None).unwrap();
        let account = an_account();
        let fees = account.fees.clone().with(Operation::PixOut, fee);
        let world = Self::with(Account { fees, ..account }).await;
        world.fund(FUNDS).await;
        world
    }

    async fn with(account: Account) -> Self {
        let clock = Arc::new(ManualClock::default());
        let psp = FakePsp::new(&main_acquirer(), Arc::clone(&clock));
        psp.set_listing(Listing::Pages(1));
        let second = FakePsp::new(&AcquirerName::parse("second").unwrap(), Arc::clone(&clock));
        let store = Arc::new(MemoryStore::default());
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            acquirers: Arc::new(FakeAcquirers::new(&[psp.clone(), second.clone()])),
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
        store.commit(steps::open_account(&account)).await.unwrap();
        Self { ports, store, clock, psp, second, account }
    }

    /// Credits a payment of this amount.
    pub async fn fund(&self, centavos: i64) {
        let mut charge = pending_charge(self.account.id);
        charge.terms = ChargeTerms { amount: Money::from_centavos(centavos), fee: Money::ZERO, ..terms() };
        self.store.commit(steps::open_charge(&charge)).await.unwrap();
        charge.version = 1;
        let paid = steps::confirm_payment(&charge, a_payment(centavos), self.clock.now());
        self.store.commit(paid).await.unwrap();
    }

    /// Posts a payout with the key.
    pub async fn create(&self, key: &str, terms: NewPayout) -> Result<Response, CreatePayoutError> {
        create(&self.ports, self.command(key, terms)).await
    }

    pub fn command(&self, key: &str, terms: NewPayout) -> CreatePayout {
        CreatePayout {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("test-key-{key}")).unwrap(),
            fingerprint: fingerprint(&terms),
            terms,
        }
    }

    /// Creates a payout of R$ 10.00 with an open outcome.
    pub async fn processing(&self) -> Payout {
        let answer = self.create("processing", ten_reais()).await.unwrap();
        assert_eq!(status_of(&answer), "processing");
        self.payout(id_of(&answer))
    }

    /// Creates a completed payout of R$ 10.00.
    pub async fn completed(&self) -> Payout {
        self.processing().await;
        self.psp.complete();
        self.clock.advance(Duration::from_secs(2));
        assert_eq!(self.poll().await, 1);
        self.only_payout()
    }

    /// Returns the stored payout, visible or not.
    pub fn payout(&self, id: PayoutId) -> Payout {
        self.store.payouts().into_iter().find(|payout| payout.id == id).unwrap()
    }

    /// Returns the only payout.
    pub fn only_payout(&self) -> Payout {
        let payouts = self.store.payouts();
        assert_eq!(payouts.len(), 1, "{payouts:?}");
        payouts[0].clone()
    }

    /// Returns the status of the only payout.
    pub fn status(&self) -> PayoutStatus {
        self.only_payout().state.status()
    }

    /// Reads a payout, with no earlier read in the same second.
    pub async fn read(&self, id: PayoutId) -> Result<Payout, FetchError> {
        fetch(&self.ports, &SyncGate::new(), self.account.id, &PayoutName::Id(id)).await
    }

    /// Reads a payout by its external id.
    pub async fn read_external(&self, external: &str) -> Result<Payout, FetchError> {
        let name = PayoutName::External(ExternalId::parse(external).unwrap());
        fetch(&self.ports, &SyncGate::new(), self.account.id, &name).await
    }

    /// Returns the number of payouts in the account's list.
    pub async fn visible(&self) -> usize {
        let page = PageRequest { limit: 200, starting_after: None };
        list(&self.ports, self.account.id, page).await.unwrap().rows.len()
    }

    /// Runs one pass of the poller. Returns the number of ended payouts.
    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Runs one pass over unfinished requests. Returns the number of finished ones.
    pub async fn resume(&self) -> usize {
        resume::run_once(&self.ports).await.unwrap().done
    }

    /// Receives a callback with the payout, without processing it.
    pub async fn call_back(&self, payout: &Payout) {
        let body = format!("sent:{}", payout.instruction_id()).into_bytes();
        receive(&self.ports, &main_acquirer(), body).await.unwrap();
    }

    /// Receives a callback with the payout and its return, without processing it.
    pub async fn call_back_for(&self, payout: &Payout, return_id: &ReturnId) {
        let body = format!("sent:{}/{return_id}", payout.instruction_id()).into_bytes();
        receive(&self.ports, &main_acquirer(), body).await.unwrap();
    }

    /// Runs one pass over the callbacks. Returns the number of completed ones.
    pub async fn process(&self) -> usize {
        process::run_once(&self.ports).await.unwrap().done
    }

    pub fn callbacks(&self) -> Vec<CallbackState> {
        self.store.callbacks().iter().map(|callback| callback.state).collect()
    }

    /// Returns the same world with other tasks between the steps of each task.
    pub fn crowded(&self) -> Self {
        self.over(Arc::new(FairStore(self.store.clone())))
    }

    /// Returns the same world over another store.
    pub fn over(&self, store: Arc<dyn Store>) -> Self {
        Self { ports: Ports { store, ..self.ports.clone() }, ..self.clone() }
    }

    fn balance(&self, account: &LedgerAccount) -> i64 {
        self.store.balance(account).centavos()
    }

    /// Returns the available balance and the balance in transit, in centavos.
    pub fn money(&self) -> (i64, i64) {
        let bucket = |bucket| self.balance(&LedgerAccount::Merchant(self.account.id, bucket));
        (bucket(Bucket::Available), bucket(Bucket::InTransit))
    }

    /// Returns the earned fees in centavos.
    pub fn fees(&self) -> i64 {
        self.balance(&LedgerAccount::system(SystemAccount::Fees, self.account.id))
    }

    /// Returns the amount that left through this acquirer since the start, in centavos.
    pub fn left(&self, acquirer: &AcquirerName) -> i64 {
        let settlement = SystemAccount::Settlement(acquirer.clone());
        self.balance(&LedgerAccount::system(settlement, self.account.id))
            + if *acquirer == main_acquirer() { FUNDS } else { 0 }
    }

    /// Returns the published events of payouts in order.
    pub fn event_types(&self) -> Vec<EventType> {
        let events = self.store.events(self.account.id);
        events.iter().map(|stored| stored.event.kind).filter(|kind| *kind != EventType::ChargePaid).collect()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly: the account lacks exactly the amount that left.
    pub async fn check(&self) {
        let report = self.store.verify_ledger().await.unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
        let names = self.psp.payout_orders().into_iter().map(|order| order.instruction_id);
        let known: Vec<_> = self.store.payouts().iter().map(Payout::instruction_id).collect();
        assert!(names.into_iter().all(|name| known.contains(&name)), "only our names are sent");
    }

    /// Asserts that the whole balance is present and no event was published.
    pub async fn untouched(&self) {
        assert_eq!((self.money(), self.fees(), self.event_types()), ((FUNDS, 0), 0, vec![]));
        assert_eq!(self.visible().await, 0);
        self.check().await;
    }
}

/// A store with a hook beside its next commit.
pub struct SlowStore {
    behind: Arc<MemoryStore>,
    before: Mutex<Option<Hook>>,
    after: Mutex<Option<Hook>>,
}

type Hook = Box<dyn FnOnce() + Send>;

impl SlowStore {
    /// Makes the next commit succeed at once and reply after `hook`.
    pub fn answering_after(world: &World, hook: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            behind: world.store.clone(),
            before: Mutex::new(None),
            after: Mutex::new(Some(Box::new(hook))),
        })
    }

    /// Makes the store check the next commit after `hook`.
    pub fn judging_after(world: &World, hook: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            behind: world.store.clone(),
            before: Mutex::new(Some(Box::new(hook))),
            after: Mutex::new(None),
        })
    }
}

#[async_trait]
impl Store for SlowStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let before = self.before.lock().unwrap().take();
        if let Some(hook) = before {
            hook();
        }
        let committed = self.behind.commit(change).await;
        let after = self.after.lock().unwrap().take();
        if let Some(hook) = after {
            hook();
        }
        committed
    }
}

/// A store at which all tasks run before and after each commit.
pub struct FairStore(Arc<MemoryStore>);

#[async_trait]
impl Store for FairStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        tokio::task::yield_now().await;
        let committed = self.0.commit(change).await;
        tokio::task::yield_now().await;
        committed
    }
}

/// Returns the output of a future that is ready at once.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

/// Returns terms of R$ 10.00 to an e-mail key, without optional fields.
pub fn ten_reais() -> NewPayout {
    reais(10)
}

pub fn reais(reais: i64) -> NewPayout {
    NewPayout {
        amount: Money::from_centavos(reais * 100),
        pix_key: PixKey::parse("ana@bank.example").unwrap(),
        recipient_document: None,
        description: None,
        external_id: None,
    }
}

pub fn named(external: &str, terms: NewPayout) -> NewPayout {
    NewPayout { external_id: Some(ExternalId::parse(external).unwrap()), ..terms }
}

/// Returns the id of the payout in a response.
pub fn id_of(answer: &Response) -> PayoutId {
    PayoutId::parse(body(answer)["id"].as_str().unwrap()).unwrap()
}

/// Returns the status in a response.
pub fn status_of(answer: &Response) -> String {
    body(answer)["status"].as_str().unwrap().to_owned()
}

pub fn body(answer: &Response) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

fn fingerprint(terms: &NewPayout) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    format!("{terms:?}").hash(&mut hasher);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Fingerprint(bytes)
}

/// Returns the acquirer's record of the payout.
pub fn upstream(payout: &Payout, progress: UpstreamProgress) -> UpstreamPayout {
    UpstreamPayout {
        instruction_id: payout.instruction_id(),
        end_to_end_id: Some(an_end_to_end_id()),
        amount: payout.terms.amount,
        recipient: a_recipient(),
        progress,
        awaits_approval: false,
        returned: Vec::new(),
    }
}

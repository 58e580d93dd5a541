//! A single account over an empty store, with two simulated acquirers and a manual clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{ChargeId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{CallbackState, ChangeSet, CommitError, Committed, Fingerprint, Maintenance as _, Operator, Store};
use cais_testkit::builders::{an_account, fresh, main_acquirer, pending_charge, steps, terms};
use cais_testkit::{
    ContendedStore, FakeAcquirers, FakePsp, ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds,
    TextRepresentation,
};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::callbacks::{process, receive};
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::fetch;
use cais_use_cases::infractions::defend::{DefendError, defend};
use cais_use_cases::infractions::resolve::{Decision, ResolveError, resolve};
use cais_use_cases::infractions::{poll, resume};
use cais_use_cases::payouts::create::{CreatePayout, NewPayout, create as create_payout};
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, create as create_refund};
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate};

/// A time longer than the lag of an acquirer's list, and than a request can be in transit.
pub const A_WHILE: Duration = Duration::from_secs(61);
/// A time longer than every pause of a worker.
pub const LONG: Duration = Duration::from_mins(6);

/// The surroundings of a test. Clones share them.
#[derive(Clone)]
pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub psp: FakePsp,
    pub second: FakePsp,
    pub account: Account,
}

/// Runs a hook before its next commit is checked.
struct Beside {
    store: Arc<MemoryStore>,
    hook: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

#[async_trait]
impl Store for Beside {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
        self.store.commit(change).await
    }
}

/// Advances the clock after each commit.
struct Sleepy {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    sleep: Duration,
}

#[async_trait]
impl Store for Sleepy {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let committed = self.store.commit(change).await;
        self.clock.advance(self.sleep);
        committed
    }
}

impl World {
    /// Creates an approved account without money.
    pub async fn new() -> Self {
        Self::with(an_account()).await
    }

    pub async fn with(account: Account) -> Self {
        let clock = Arc::new(ManualClock::default());
        let psp = FakePsp::new(&main_acquirer(), clock.clone());
        let second = FakePsp::new(&AcquirerName::parse("second").unwrap(), clock.clone());
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

    /// Returns the same world over a store at which all tasks read before any task writes.
    pub fn contended(&self) -> Self {
        let store = ContendedStore::new(self.store.clone());
        let ports = Ports { store: Arc::new(store), ..self.ports.clone() };
        Self { ports, ..self.clone() }
    }

    /// Returns the same world with a hook that runs once, before the next commit is checked.
    pub fn beside(&self, hook: impl FnOnce() + Send + 'static) -> Self {
        let store = Beside { store: self.store.clone(), hook: Mutex::new(Some(Box::new(hook))) };
        let ports = Ports { store: Arc::new(store), ..self.ports.clone() };
        Self { ports, ..self.clone() }
    }

    /// Returns the same world with a clock that advances after each commit.
    pub fn sleeping_after_commit(&self, sleep: Duration) -> Self {
        let store = Sleepy { store: self.store.clone(), clock: self.clock.clone(), sleep };
        let ports = Ports { store: Arc::new(store), ..self.ports.clone() };
        Self { ports, ..self.clone() }
    }

    /// Creates a pending charge with these terms at the main acquirer.
    pub async fn waiting(&self, terms: ChargeTerms) -> Charge {
        let charge = Charge { terms, ..pending_charge(self.account.id) };
        self.store.commit(steps::open_charge(&charge)).await.unwrap();
        self.psp.hold(&charge);
        charge
    }

    /// Creates a pending charge of this amount without a fee.
    pub async fn pending(&self, centavos: i64) -> Charge {
        self.waiting(ChargeTerms { amount: Money::from_centavos(centavos), fee: Money::ZERO, ..terms() }).await
    }

    /// Creates a paid charge of this amount. Returns its Pix too.
    pub async fn paid(&self, centavos: i64) -> (Charge, EndToEndId) {
        let charge = self.pending(centavos).await;
        let pix = self.psp.pay(&charge.txid, centavos);
        let paid = self.read(&charge).await;
        assert_eq!(paid.state.status(), ChargeStatus::Paid);
        (paid, pix)
    }

    /// Creates a paid charge of R$ 10.00 with an open dispute of the whole amount. Returns the acquirer's id of the
    /// dispute too.
    pub async fn disputed(&self) -> (Charge, String) {
        let (charge, pix) = self.paid(1_000).await;
        let id = self.psp.dispute(&pix, 1_000);
        assert_eq!(self.poll().await, 1);
        (self.charge(charge.id), id)
    }

    /// Reads a charge, with no earlier read in the same second.
    pub async fn read(&self, charge: &Charge) -> Charge {
        fetch(&self.ports, &SyncGate::new(), charge.account, &ChargeName::Id(charge.id)).await.unwrap()
    }

    /// Returns the stored charge.
    pub fn charge(&self, id: ChargeId) -> Charge {
        self.store.charges().into_iter().find(|charge| charge.id == id).unwrap()
    }

    /// Runs one pass over the acquirers' lists. Returns the number of changed infractions.
    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Runs one pass over the defenses of unknown arrival. Returns the number of resolved ones.
    pub async fn resume(&self) -> usize {
        resume::run_once(&self.ports).await.unwrap().done
    }

    /// Receives and processes a callback of the main acquirer about an infraction.
    pub async fn call_back(&self, id: &str) -> CallbackState {
        receive(&self.ports, &main_acquirer(), id.as_bytes().to_vec()).await.unwrap();
        process::run_once(&self.ports).await.unwrap();
        self.store.callbacks().last().unwrap().state
    }

    /// Runs passes over the waiting callbacks, after every pause.
    pub async fn look_again(&self) -> CallbackState {
        self.clock.advance(LONG);
        process::run_once(&self.ports).await.unwrap();
        self.store.callbacks().last().map_or(CallbackState::Done, |callback| callback.state)
    }

    /// Submits a defense with this text.
    pub async fn defend(&self, text: &str) -> Result<Infraction, DefendError> {
        self.defend_with(text, None).await
    }

    pub async fn defend_with(&self, text: &str, evidence: Option<&str>) -> Result<Infraction, DefendError> {
        let read = |text: &str| Text::parse(text, 2_000, LineBreaks::Allowed).unwrap();
        defend(&self.ports, &self.account, self.last().id, read(text), evidence.map(read)).await
    }

    /// Decides the youngest infraction as an operator.
    pub async fn decide(&self, decision: Decision) -> Result<Infraction, ResolveError> {
        self.decide_one(self.last().id, decision).await
    }

    /// Decides the infraction with the id as an operator.
    pub async fn decide_one(&self, id: InfractionId, decision: Decision) -> Result<Infraction, ResolveError> {
        let operator = Operator { name: "ana".to_owned(), source: "cli".to_owned(), host: "desk".to_owned() };
        let note = Text::parse(r#"a "b" \"#, 100, LineBreaks::Refused).unwrap();
        resolve(&self.ports, &operator, id, (decision, &note)).await
    }

    /// Returns all stored infractions, oldest first.
    pub fn all(&self) -> Vec<Infraction> {
        self.store.infractions()
    }

    /// Returns the youngest stored infraction.
    pub fn last(&self) -> Infraction {
        self.all().pop().unwrap()
    }

    /// Returns the status of each stored infraction, oldest first.
    pub fn statuses(&self) -> Vec<InfractionStatus> {
        self.all().iter().map(|infraction| infraction.state.status()).collect()
    }

    /// Returns the available, pending and blocked balances in centavos.
    pub fn money(&self) -> [i64; 3] {
        [Bucket::Available, Bucket::Pending, Bucket::Blocked].map(|bucket| self.in_bucket(bucket))
    }

    pub fn in_bucket(&self, bucket: Bucket) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, bucket)).centavos()
    }

    /// Spends the available balance except this amount.
    pub async fn spend_all_but(&self, centavos: i64) {
        let away = Transfer {
            from: LedgerAccount::Merchant(self.account.id, Bucket::Available),
            to: LedgerAccount::system(SystemAccount::Fees, self.account.id),
            amount: Money::from_centavos(self.in_bucket(Bucket::Available) - centavos),
            overdraft: Overdraft::Forbidden,
            kind: EntryKind::Fee,
            resource: None,
            end_to_end_id: None,
        };
        self.store.commit(steps::transfer(away)).await.unwrap();
    }

    /// Creates a payout of this amount with its own key.
    pub async fn pay_out(&self, key: &str, centavos: i64) -> Response {
        let command = CreatePayout {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("payout-key-{key}")).unwrap(),
            fingerprint: Fingerprint([1; 32]),
            terms: NewPayout {
                amount: Money::from_centavos(centavos),
                pix_key: PixKey::parse("ana@bank.example").unwrap(),
                recipient_document: None,
                description: None,
                external_id: None,
            },
        };
        create_payout(&self.ports, command).await.unwrap()
    }

    /// Creates a refund of this amount with its own key.
    pub async fn refund(&self, key: &str, charge: ChargeId, centavos: i64) -> Result<Response, CreateRefundError> {
        self.refund_payment(key, (charge, None), centavos).await
    }

    /// Creates a refund of one payment of the charge.
    pub async fn refund_payment(
        &self,
        key: &str,
        (charge, pix): (ChargeId, Option<EndToEndId>),
        centavos: i64,
    ) -> Result<Response, CreateRefundError> {
        let command = CreateRefund {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("refund-key-{key}")).unwrap(),
            fingerprint: Fingerprint([2; 32]),
            charge: ChargeName::Id(charge),
            end_to_end_id: pix,
            amount: Some(Money::from_centavos(centavos)),
            reason: None,
            external_id: None,
        };
        create_refund(&self.ports, command).await
    }

    /// Returns the published events in order, without payments.
    pub fn event_types(&self) -> Vec<EventType> {
        let events = self.store.events(self.account.id);
        events.iter().map(|stored| stored.event.kind).filter(|kind| *kind != EventType::ChargePaid).collect()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly, and that blocks match the open infractions.
    pub async fn check(&self) {
        let report = self.store.verify_ledger().await.unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
        let held: i64 = self.store.blocks().iter().map(|block| block.held.centavos()).sum();
        assert_eq!(held, self.in_bucket(Bucket::Blocked), "blocked is the sum of the blocks");
        let open = self.all().into_iter().filter(|infraction| infraction.state.status().is_open());
        let mut open: Vec<_> = open.map(|infraction| (infraction.id, infraction.limit)).collect();
        let mut blocks: Vec<_> = self.store.blocks().iter().map(|block| (block.infraction, block.limit)).collect();
        open.sort();
        blocks.sort();
        assert_eq!(open, blocks, "each open infraction has a block, and no other");
        for bucket in [Bucket::Available, Bucket::Pending, Bucket::Blocked, Bucket::InTransit] {
            assert!(self.in_bucket(bucket) >= 0, "{bucket:?}");
        }
        let events = self.store.events(self.account.id);
        for infraction in self.all() {
            let of = |kinds: &[EventType]| {
                let own = events.iter().filter(|stored| stored.event.resource == infraction.id.to_string());
                own.filter(|stored| kinds.contains(&stored.event.kind)).count()
            };
            assert_eq!(of(&[EventType::InfractionOpened]), 1, "opened once");
            let settled = of(&[EventType::InfractionWon, EventType::InfractionLost, EventType::InfractionCancelled]);
            assert_eq!(settled, usize::from(!infraction.state.status().is_open()), "settled once");
        }
    }
}

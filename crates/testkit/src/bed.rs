//! The surroundings of use cases: an account in a store in memory, two simulated acquirers, a simulated crypto processor, and a manual
//! clock.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{ChargeId, Id, IdKind};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{Acquirers, ChangeSet, Clock as _, Fingerprint, Maintenance as _, Store};
use cais_use_cases::callbacks::{self, OpenCallbacks};
use cais_use_cases::charges::{ChargeName, fetch};
use cais_use_cases::crypto::CryptoSources;
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate, resume};
use serde_json::Value;

use crate::builders::{a_payment, expect_ok, main_acquirer, pending_charge, steps, terms};
use crate::{
    ContendedStore, FakeAcquirers, FakeProcessor, FakePsp, HookedStore, ManualClock, MemoryStore, PlainKeyedHash,
    PlainSecretCipher, SequentialIds, TextRepresentation,
};

/// 31 s: just longer than the lease of a creation, so that another process may resume the creation.
pub const PAST_LEASE: Duration = Duration::from_secs(31);
/// Longer than every pause between a worker's retries. After this time, an acquirer's list also shows its newest records.
pub const LONG: Duration = Duration::from_mins(6);

/// The surroundings of a test. Clones share the store, the clock, the acquirers and the processor.
#[derive(Clone)]
pub struct TestBed {
    /// The ports of the use cases.
    pub ports: Ports,
    /// The store.
    pub store: Arc<MemoryStore>,
    /// The clock.
    pub clock: Arc<ManualClock>,
    /// The main acquirer.
    pub psp: FakePsp,
    /// The acquirer that receives charges while the main one is unavailable.
    pub second: FakePsp,
    /// The crypto processor, which is also the source of rates. The use cases see it only after [`TestBed::with_crypto`].
    pub processor: FakeProcessor,
    /// The merchant's account.
    pub account: Account,
}

/// Declares a `TestBed` for the tests of one subject. The type has the fields and methods of [`TestBed`](crate::TestBed). The tests add
/// methods of their own.
#[macro_export]
macro_rules! test_bed {
    () => {
        /// The surroundings of a test. Clones share them.
        #[derive(Clone)]
        pub struct TestBed(pub $crate::TestBed);

        impl std::ops::Deref for TestBed {
            type Target = $crate::TestBed;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

impl TestBed {
    /// Creates the surroundings with both acquirers and without a crypto processor, and stores the account.
    pub async fn new(account: Account) -> Self {
        let bed = Self::empty(account);
        bed.open(&bed.account).await;
        bed
    }

    /// Creates the surroundings of an account that is not stored.
    #[must_use]
    pub fn empty(account: Account) -> Self {
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let psp = FakePsp::new(&main_acquirer(), clock.clone());
        let second = FakePsp::new(&expect_ok(AcquirerName::parse("second")), clock.clone());
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
            // The mock has no expectation, so that a call to a receiver fails the test.
            webhooks: Arc::new(MockWebhookSender::new()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        let processor = FakeProcessor::new(clock.clone());
        Self { ports, store, clock, psp, second, processor, account }
    }

    /// Returns the same surroundings with other acquirers.
    #[must_use]
    pub fn with_acquirers(mut self, acquirers: impl Acquirers + 'static) -> Self {
        self.ports.acquirers = Arc::new(acquirers);
        self
    }

    /// Returns the same surroundings with the crypto processor, and this spread on its prices.
    #[must_use]
    pub fn with_crypto(mut self, spread: &str) -> Self {
        let (processor, rates) = (Arc::new(self.processor.clone()), Arc::new(self.processor.clone()));
        self.ports.crypto = Some(CryptoSources { processor, rates, spread: expect_ok(Percentage::parse(spread)) });
        self
    }

    /// Returns the same surroundings over another store.
    #[must_use]
    pub fn over(&self, store: impl Store + 'static) -> Self {
        Self { ports: Ports { store: Arc::new(store), ..self.ports.clone() }, ..self.clone() }
    }

    /// Returns the same surroundings over a store in which all tasks read before any task writes.
    #[must_use]
    pub fn contended(&self) -> Self {
        self.over(ContendedStore::new(self.store.clone()))
    }

    /// Returns the same surroundings with a hook that runs before each commit, ahead of its checks.
    #[must_use]
    pub fn before_commits(&self, hook: impl FnMut() + Send + 'static) -> Self {
        self.over(HookedStore::new(self.store.clone(), hook, || {}))
    }

    /// Returns the same surroundings with a hook that runs after each commit. The caller of the commit gets the result only after the hook.
    #[must_use]
    pub fn after_commits(&self, hook: impl FnMut() + Send + 'static) -> Self {
        self.over(HookedStore::new(self.store.clone(), || {}, hook))
    }

    async fn commit(&self, change: ChangeSet) {
        expect_ok(self.store.commit(change).await);
    }

    /// Stores an account.
    pub async fn open(&self, account: &Account) {
        self.commit(steps::open_account(account)).await;
    }

    /// Creates a pending charge with these terms at the main acquirer.
    pub async fn pending_with(&self, terms: ChargeTerms) -> Charge {
        let charge = Charge { terms, ..pending_charge(self.account.id) };
        self.commit(steps::open_charge(&charge)).await;
        self.psp.store_charge(&charge);
        charge
    }

    /// Creates a pending charge of this amount without a fee.
    pub async fn pending(&self, centavos: i64) -> Charge {
        self.pending_with(without_fee(centavos)).await
    }

    /// Creates a charge of this amount without a fee, and pays it. Returns the paid charge, and the end-to-end id of its payment.
    ///
    /// # Panics
    /// If the charge is not paid.
    pub async fn paid(&self, centavos: i64) -> (Charge, EndToEndId) {
        let charge = self.pending(centavos).await;
        let pix = self.psp.pay(&charge.txid, centavos);
        let paid = self.read(&charge).await;
        assert_eq!(paid.state.status(), ChargeStatus::Paid);
        (paid, pix)
    }

    /// Reads a charge, refreshed from its acquirer. The gate (one refresh of a charge per second) is new, so an earlier read does not
    /// prevent this refresh.
    pub async fn read(&self, charge: &Charge) -> Charge {
        let name = ChargeName::Id(charge.id);
        expect_ok(fetch::fetch(&self.ports, &SyncGate::new(), charge.account, &name).await)
    }

    /// Returns the stored charge, visible or not.
    #[must_use]
    pub fn charge(&self, id: ChargeId) -> Charge {
        expect_ok(self.store.charges().into_iter().find(|charge| charge.id == id).ok_or("no such charge"))
    }

    /// Credits a payment of this amount. Only the store has the charge and the payment; no acquirer has a record of them.
    pub async fn fund(&self, centavos: i64) {
        let charge = Charge { terms: without_fee(centavos), ..pending_charge(self.account.id) };
        self.commit(steps::open_charge(&charge)).await;
        let charge = Charge { version: 1, ..charge };
        self.commit(steps::confirm_payment(&charge, a_payment(centavos), self.clock.now())).await;
    }

    /// Adds this amount to the available balance, without an event. A negative amount reduces the balance.
    pub async fn adjust_available(&self, centavos: i64) {
        let available = LedgerAccount::Merchant(self.account.id, Bucket::Available);
        let fees = LedgerAccount::system(SystemAccount::Fees, self.account.id);
        let (from, to) = if centavos < 0 { (available, fees) } else { (fees, available) };
        let overdraft = if centavos < 0 { Overdraft::Forbidden } else { Overdraft::Allowed };
        let amount = Money::from_centavos(centavos.saturating_abs());
        let kind = EntryKind::Fee;
        self.commit(steps::transfer(Transfer {
            from,
            to,
            amount,
            overdraft,
            kind,
            resource: None,
            end_to_end_id: None,
        }))
        .await;
    }

    /// Sets the available balance to this amount, without an event.
    pub async fn set_available(&self, centavos: i64) {
        self.adjust_available(centavos.saturating_sub(self.available())).await;
    }

    /// Stores a callback of the main acquirer. [`TestBed::process`] processes it.
    pub async fn receive_callback(&self, body: &str) {
        expect_ok(callbacks::receive(&self.ports, &main_acquirer(), body).await);
    }

    /// Runs one pass over the callbacks. Returns the number of finished ones.
    pub async fn process(&self) -> usize {
        expect_ok(callbacks::process::run_once(&self.ports).await).done
    }

    /// Runs one pass over unfinished creations. Returns the number of finished ones.
    pub async fn resume(&self) -> usize {
        expect_ok(resume::run_once(&self.ports).await).done
    }

    /// Returns a balance of the account in centavos.
    #[must_use]
    pub fn in_bucket(&self, bucket: Bucket) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, bucket)).centavos()
    }

    /// Returns the available balance in centavos.
    #[must_use]
    pub fn available(&self) -> i64 {
        self.in_bucket(Bucket::Available)
    }

    /// Returns the balance in transit in centavos.
    #[must_use]
    pub fn in_transit(&self) -> i64 {
        self.in_bucket(Bucket::InTransit)
    }

    /// Returns the balance, in centavos, of the system account's row that the account uses.
    #[must_use]
    pub fn in_system(&self, account: SystemAccount) -> i64 {
        self.store.balance(&LedgerAccount::system(account, self.account.id)).centavos()
    }

    /// Returns the types of the account's published events, in order.
    #[must_use]
    pub fn event_types(&self) -> Vec<EventType> {
        self.store.events(self.account.id).iter().map(|stored| stored.event.kind).collect()
    }

    /// Returns the types of the account's published events in order, except `charge.paid`.
    #[must_use]
    pub fn later_event_types(&self) -> Vec<EventType> {
        self.event_types().into_iter().filter(|kind| *kind != EventType::ChargePaid).collect()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly.
    ///
    /// # Panics
    /// If the ledger has a difference.
    pub async fn check(&self) {
        assert_eq!(expect_ok(self.store.verify_ledger().await).differences, [], "the ledger adds up");
    }
}

/// Returns terms of this amount without a fee.
fn without_fee(centavos: i64) -> ChargeTerms {
    ChargeTerms { amount: Money::from_centavos(centavos), fee: Money::ZERO, ..terms() }
}

/// Returns an idempotency key with this text.
#[must_use]
pub fn a_request_key(text: &str) -> IdempotencyKey {
    expect_ok(IdempotencyKey::parse(&format!("test-key-{text}")))
}

/// Returns a fingerprint of the terms.
#[must_use]
pub fn fingerprint(terms: &impl Debug) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    format!("{terms:?}").hash(&mut hasher);
    let mut bytes = [0; 32];
    for (byte, of_hash) in bytes.iter_mut().zip(hasher.finish().to_be_bytes()) {
        *byte = of_hash;
    }
    Fingerprint(bytes)
}

/// Returns the JSON of a response.
#[must_use]
pub fn body(answer: &Response) -> Value {
    expect_ok(serde_json::from_slice(&answer.body))
}

/// Returns the identifier in a response.
#[must_use]
pub fn id_of<K: IdKind>(answer: &Response) -> Id<K> {
    expect_ok(Id::parse(&field(answer, "id")))
}

/// Returns the status in a response.
#[must_use]
pub fn status_of(answer: &Response) -> String {
    field(answer, "status")
}

fn field(answer: &Response, name: &str) -> String {
    expect_ok(body(answer).get(name).and_then(Value::as_str).map(str::to_owned).ok_or("no such field"))
}

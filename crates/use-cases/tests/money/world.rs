//! A single account over an empty store, with two simulated acquirers and a manual clock.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{ChargeId, RefundId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{Fingerprint, Maintenance as _, Store as _};
use cais_testkit::builders::{an_account, fresh, main_acquirer, pending_charge, steps, terms};
use cais_testkit::{
    ContendedStore, FakeAcquirers, FakePsp, ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds,
    TextRepresentation,
};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::fetch;
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, create};
use cais_use_cases::refunds::poll;
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate, resume};

/// A time just longer than the lease of a creation.
pub const PAST_LEASE: Duration = Duration::from_secs(31);
/// A time longer than every pause of a worker, and than the lag of an acquirer's list.
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

/// The terms of a refund request.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub struct RefundRequest {
    pub centavos: Option<i64>,
    pub external: Option<&'static str>,
}

impl World {
    /// Creates an approved account without money.
    pub async fn new() -> Self {
        Self::with(an_account()).await
    }

    pub async fn with(account: Account) -> Self {
        let clock = Arc::new(ManualClock::default());
        let psp = FakePsp::new(&main_acquirer(), Arc::clone(&clock));
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
        let world = Self { ports, store, clock, psp, second, account };
        world.open(&world.account).await;
        world
    }

    /// Returns the same world over a store at which all tasks read before any task writes.
    pub fn contended(&self) -> Self {
        let store = ContendedStore::new(self.store.clone());
        let ports = Ports { store: Arc::new(store), ..self.ports.clone() };
        Self { ports, ..self.clone() }
    }

    /// Creates another account.
    pub async fn open(&self, account: &Account) {
        self.store.commit(steps::open_account(account)).await.unwrap();
    }

    /// Creates a pending charge of R$ 10.00 without a fee.
    pub async fn pending(&self) -> Charge {
        self.waiting(ChargeTerms { fee: Money::ZERO, ..terms() }).await
    }

    /// Creates a pending charge with these terms.
    pub async fn waiting(&self, terms: ChargeTerms) -> Charge {
        let charge = Charge { terms, ..pending_charge(self.account.id) };
        self.store.commit(steps::open_charge(&charge)).await.unwrap();
        self.psp.hold(&charge);
        charge
    }

    /// Creates a paid charge of R$ 10.00 without a fee. The money is available.
    pub async fn paid(&self) -> Charge {
        let charge = self.pending().await;
        self.psp.pay(&charge.txid, 1_000);
        let paid = self.read(&charge).await;
        assert_eq!(paid.state.status(), ChargeStatus::Paid);
        paid
    }

    /// Reads a charge, with no earlier read in the same second.
    pub async fn read(&self, charge: &Charge) -> Charge {
        fetch(&self.ports, &SyncGate::new(), charge.account, &ChargeName::Id(charge.id)).await.unwrap()
    }

    /// Returns the stored charge.
    pub fn charge(&self, id: ChargeId) -> Charge {
        self.store.charges().into_iter().find(|charge| charge.id == id).unwrap()
    }

    /// Spends the available balance except this amount.
    pub async fn spend_all_but(&self, centavos: i64) {
        let away = Transfer {
            from: LedgerAccount::Merchant(self.account.id, Bucket::Available),
            to: LedgerAccount::system(SystemAccount::Fees, self.account.id),
            amount: Money::from_centavos(self.available() - centavos),
            overdraft: Overdraft::Forbidden,
            kind: EntryKind::Fee,
            resource: None,
            end_to_end_id: None,
        };
        self.store.commit(steps::transfer(away)).await.unwrap();
    }

    /// Adds this amount to the available balance.
    pub async fn fund(&self, centavos: i64) {
        let here = Transfer {
            from: LedgerAccount::system(SystemAccount::Fees, self.account.id),
            to: LedgerAccount::Merchant(self.account.id, Bucket::Available),
            amount: Money::from_centavos(centavos),
            overdraft: Overdraft::Allowed,
            kind: EntryKind::Fee,
            resource: None,
            end_to_end_id: None,
        };
        self.store.commit(steps::transfer(here)).await.unwrap();
    }

    /// Posts a refund with the key.
    pub async fn refund(
        &self,
        key: &str,
        charge: &Charge,
        asked: RefundRequest,
    ) -> Result<Response, CreateRefundError> {
        create(&self.ports, self.command(key, charge, asked)).await
    }

    /// Posts a refund of one payment of the charge with the key.
    pub async fn refund_payment(
        &self,
        key: &str,
        (charge, pix): (&Charge, &EndToEndId),
        asked: RefundRequest,
    ) -> Result<Response, CreateRefundError> {
        let mut command = self.command(key, charge, asked);
        let mut hasher = DefaultHasher::new();
        pix.hash(&mut hasher);
        command.fingerprint.0[8..16].copy_from_slice(&hasher.finish().to_be_bytes());
        create(&self.ports, CreateRefund { end_to_end_id: Some(pix.clone()), ..command }).await
    }

    pub fn command(&self, key: &str, charge: &Charge, asked: RefundRequest) -> CreateRefund {
        let mut hasher = DefaultHasher::new();
        (charge.id, &asked).hash(&mut hasher);
        let mut fingerprint = [0; 32];
        fingerprint[..8].copy_from_slice(&hasher.finish().to_be_bytes());
        CreateRefund {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("test-key-{key}")).unwrap(),
            fingerprint: Fingerprint(fingerprint),
            charge: ChargeName::Id(charge.id),
            end_to_end_id: None,
            amount: asked.centavos.map(Money::from_centavos),
            reason: None,
            external_id: asked.external.map(|text| ExternalId::parse(text).unwrap()),
        }
    }

    /// Runs one pass of the poller, after the first pause.
    pub async fn poll(&self) -> usize {
        self.clock.advance(Duration::from_secs(2));
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Runs one pass of the worker that finishes creations.
    pub async fn resume(&self) -> usize {
        resume::run_once(&self.ports).await.unwrap().done
    }

    /// Returns the only refund, visible or not.
    pub fn only_refund(&self) -> Refund {
        let refunds = self.store.refunds();
        assert_eq!(refunds.len(), 1, "{refunds:?}");
        refunds[0].clone()
    }

    /// Returns the status of the only refund.
    pub fn status(&self) -> RefundStatus {
        self.only_refund().state.status()
    }

    /// Returns the available balance in centavos.
    pub fn available(&self) -> i64 {
        self.in_bucket(Bucket::Available)
    }

    /// Returns the balance in transit in centavos.
    pub fn in_transit(&self) -> i64 {
        self.in_bucket(Bucket::InTransit)
    }

    pub fn in_bucket(&self, bucket: Bucket) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, bucket)).centavos()
    }

    /// Returns the published events in order.
    pub fn event_types(&self) -> Vec<EventType> {
        self.store.events(self.account.id).iter().map(|stored| stored.event.kind).collect()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly, and that held money belongs to open orders.
    pub async fn check(&self) {
        let report = self.store.verify_ledger().await.unwrap();
        assert_eq!(report.differences, [], "the ledger adds up");
        for charge in self.store.charges() {
            let of = |wanted: &[RefundStatus]| {
                let own = self.store.refunds().into_iter().filter(|refund| refund.charge == charge.id);
                let chosen = own.filter(|refund| wanted.contains(&refund.state.status()));
                Money::sum(chosen.map(|refund| refund.of_charge)).unwrap()
            };
            assert_eq!(charge.refunds.in_flight, of(&[RefundStatus::Pending, RefundStatus::Processing]));
            assert_eq!(charge.refunds.done, of(&[RefundStatus::Completed]));
            assert!(charge.refunds.done.checked_add(charge.refunds.in_flight).unwrap() <= charge.terms.amount);
        }
        for paid in self.store.payments() {
            let own = self.store.refunds().into_iter().filter(|one| one.end_to_end_id == paid.payment.end_to_end_id);
            let live = own.filter(|one| !matches!(one.state.status(), RefundStatus::Abandoned | RefundStatus::Failed));
            assert!(Money::sum(live.map(|one| one.amount)).unwrap() <= paid.payment.amount, "{paid:?}");
        }
    }
}

/// Returns terms for the whole rest.
pub fn all() -> RefundRequest {
    RefundRequest::default()
}

/// Returns terms for this amount in centavos.
pub fn part(centavos: i64) -> RefundRequest {
    RefundRequest { centavos: Some(centavos), external: None }
}

pub fn named(external: &'static str, asked: RefundRequest) -> RefundRequest {
    RefundRequest { external: Some(external), ..asked }
}

pub fn body(answer: &Response) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns the id of the refund in a response.
pub fn id_of(answer: &Response) -> RefundId {
    RefundId::parse(body(answer)["id"].as_str().unwrap()).unwrap()
}

/// Returns the status of the refund in a response.
pub fn status_of(answer: &Response) -> String {
    body(answer)["status"].as_str().unwrap().to_owned()
}

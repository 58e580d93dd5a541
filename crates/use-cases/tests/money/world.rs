//! One account over an empty store, with two simulated acquirers and a clock that stands still.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::account::Account;
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{ChargeId, RefundId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{ChangeSet, CommitError, Committed, Fingerprint, Maintenance as _, Store};
use cais_testkit::builders::{an_account, fresh, main_acquirer, pending_charge, steps, terms};
use cais_testkit::{ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds, TextRepresentation};
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::fetch;
use cais_use_cases::notices::OpenCallbacks;
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, create};
use cais_use_cases::refunds::poll;
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Answer, Ports, SyncGate, resume};

use crate::psp::{Psp, acquirers};

/// The lease of a creation, and a moment more.
pub const PAST_LEASE: Duration = Duration::from_secs(31);
/// Longer than every pause of a worker, and than what an acquirer's list may lag.
pub const LONG: Duration = Duration::from_mins(6);

/// Everything that a test works with. Cloning shares it.
#[derive(Clone)]
pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub psp: Psp,
    pub second: Psp,
    pub account: Account,
}

/// Lets everybody else go on before each commit, and some of them once more before its caller hears of it.
struct Contended {
    store: Arc<MemoryStore>,
    commits: AtomicUsize,
}

#[async_trait]
impl Store for Contended {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        tokio::task::yield_now().await;
        let committed = self.store.commit(change).await;
        for _ in 0..self.commits.fetch_add(1, Ordering::Relaxed) % 4 {
            tokio::task::yield_now().await;
        }
        committed
    }
}

/// What a caller wants to go back.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub struct Asked {
    pub centavos: Option<i64>,
    pub external: Option<&'static str>,
}

impl World {
    /// An approved account without money.
    pub async fn new() -> Self {
        Self::with(an_account()).await
    }

    pub async fn with(account: Account) -> Self {
        let clock = Arc::new(ManualClock::default());
        let psp = Psp::new(main_acquirer().as_str(), Arc::clone(&clock));
        let second = Psp::new("second", Arc::clone(&clock));
        let store = Arc::new(MemoryStore::default());
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            acquirers: Arc::new(acquirers(&[psp.clone(), second.clone()])),
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            keyed_hash: Arc::new(PlainKeyedHash::default()),
            representation: Arc::new(TextRepresentation),
            deliveries: store.clone(),
            // Without an expectation: to call a receiver would be a failure.
            webhooks: Arc::new(MockWebhookSender::new()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        let world = Self { ports, store, clock, psp, second, account };
        world.open(&world.account).await;
        world
    }

    /// The same world over a store at which everybody reads before anybody writes: the worst that can happen to decisions.
    pub fn contended(&self) -> Self {
        let store = Contended { store: self.store.clone(), commits: AtomicUsize::new(0) };
        let ports = Ports { store: Arc::new(store), ..self.ports.clone() };
        Self { ports, ..self.clone() }
    }

    /// Another account.
    pub async fn open(&self, account: &Account) {
        self.store.commit(steps::open_account(account)).await.unwrap();
    }

    /// A charge of R$ 10.00 without fee that waits for its payer.
    pub async fn pending(&self) -> Charge {
        self.waiting(ChargeTerms { fee: Money::ZERO, ..terms() }).await
    }

    /// A charge of those terms that waits for its payer.
    pub async fn waiting(&self, terms: ChargeTerms) -> Charge {
        let charge = Charge { terms, ..pending_charge(self.account.id) };
        self.store.commit(steps::open_charge(&charge)).await.unwrap();
        self.psp.hold(&charge);
        charge
    }

    /// A charge of R$ 10.00 without fee that is paid; the money is available.
    pub async fn paid(&self) -> Charge {
        let charge = self.pending().await;
        self.psp.pay(&charge.txid, 1_000);
        let paid = self.read(&charge).await;
        assert_eq!(paid.state.status(), ChargeStatus::Paid);
        paid
    }

    /// A GET that nobody made in the second before.
    pub async fn read(&self, charge: &Charge) -> Charge {
        fetch(&self.ports, &SyncGate::new(), charge.account, &ChargeName::Id(charge.id)).await.unwrap()
    }

    /// The charge as it is stored.
    pub fn charge(&self, id: ChargeId) -> Charge {
        self.store.charges().into_iter().find(|charge| charge.id == id).unwrap()
    }

    /// All money that may be used is spent on something else, but for so many centavos.
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

    /// So many centavos fall from the sky.
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

    /// A POST with that key.
    pub async fn refund(&self, key: &str, charge: &Charge, asked: Asked) -> Result<Answer, CreateRefundError> {
        create(&self.ports, self.command(key, charge, asked)).await
    }

    /// A POST with that key, of one payment of the charge.
    pub async fn refund_payment(
        &self,
        key: &str,
        (charge, pix): (&Charge, &EndToEndId),
        asked: Asked,
    ) -> Result<Answer, CreateRefundError> {
        let mut command = self.command(key, charge, asked);
        let mut hasher = DefaultHasher::new();
        pix.hash(&mut hasher);
        command.fingerprint.0[8..16].copy_from_slice(&hasher.finish().to_be_bytes());
        create(&self.ports, CreateRefund { end_to_end_id: Some(pix.clone()), ..command }).await
    }

    pub fn command(&self, key: &str, charge: &Charge, asked: Asked) -> CreateRefund {
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

    /// One pass of the poller, after the first pause.
    pub async fn poll(&self) -> usize {
        self.clock.advance(Duration::from_secs(2));
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// One pass of the worker that finishes creations.
    pub async fn resume(&self) -> usize {
        resume::run_once(&self.ports).await.unwrap().done
    }

    /// The only refund there is, visible or not.
    pub fn only_refund(&self) -> Refund {
        let refunds = self.store.refunds();
        assert_eq!(refunds.len(), 1, "{refunds:?}");
        refunds[0].clone()
    }

    /// The status of the only refund there is.
    pub fn status(&self) -> RefundStatus {
        self.only_refund().state.status()
    }

    /// What the account may use, in centavos.
    pub fn available(&self) -> i64 {
        self.in_bucket(Bucket::Available)
    }

    /// What is on its way out, in centavos.
    pub fn in_transit(&self) -> i64 {
        self.in_bucket(Bucket::InTransit)
    }

    pub fn in_bucket(&self, bucket: Bucket) -> i64 {
        self.store.balance(&LedgerAccount::Merchant(self.account.id, bucket)).centavos()
    }

    /// What consumers were told, in order.
    pub fn told(&self) -> Vec<EventType> {
        self.store.events(self.account.id).iter().map(|stored| stored.event.kind).collect()
    }

    /// Nothing was lost, done twice or credited wrongly; what is held is what is on its way.
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

/// All that is left.
pub fn all() -> Asked {
    Asked::default()
}

/// So many centavos.
pub fn part(centavos: i64) -> Asked {
    Asked { centavos: Some(centavos), external: None }
}

pub fn named(external: &'static str, asked: Asked) -> Asked {
    Asked { external: Some(external), ..asked }
}

pub fn body(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// The refund that an answer shows.
pub fn id_of(answer: &Answer) -> RefundId {
    RefundId::parse(body(answer)["id"].as_str().unwrap()).unwrap()
}

/// Where it stood then.
pub fn status_of(answer: &Answer) -> String {
    body(answer)["status"].as_str().unwrap().to_owned()
}

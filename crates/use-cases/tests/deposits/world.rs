//! A single account over an empty store, with a simulated processor and a manual clock.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use cais_domain::crypto::deposit::{Deposit, DepositStatus, Resolution};
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, ProcessorId, Quote, Side};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ids::{CryptoDepositId, CryptoQuoteId};
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::acquirers::MockAcquirers;
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{CryptoDepositQueries as _, Fingerprint, Maintenance as _, PageRequest, ResponseKind, Store as _};
use cais_testkit::builders::{an_account, fresh, steps};
use cais_testkit::{ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds, TextRepresentation};
use cais_use_cases::callbacks::{self, OpenCallbacks, ReceiveError};
use cais_use_cases::crypto::deposits::create::{CreateDeposit, CreateDepositError, NewDeposit, create};
use cais_use_cases::crypto::deposits::fetch::fetch;
use cais_use_cases::crypto::deposits::list::list;
use cais_use_cases::crypto::deposits::{DepositName, poll};
use cais_use_cases::crypto::{CryptoSources, quotes};
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, Response, SyncGate, resume};

use crate::processor::Processor;

/// A time just longer than the lease of a creation.
pub const PAST_LEASE: Duration = Duration::from_secs(31);
/// A time longer than every pause of a worker.
pub const LONG: Duration = Duration::from_mins(6);
/// A time just longer than the payment period.
pub const PAST_PERIOD: Duration = Duration::from_secs(20 * 60 + 1);
/// The coins for R$ 200.00 at R$ 5.40, rounded up.
pub const COINS: &str = "37.037038";

#[derive(Clone)]
pub struct World {
    pub ports: Ports,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub processor: Processor,
    pub account: Account,
}

impl World {
    /// Creates an approved account with a fee of R$ 0.50 and 1 %. A dollar costs R$ 5.40.
    pub async fn new() -> Self {
        let fee = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("1").unwrap(), None, None).unwrap();
        let account = an_account();
        let account = Account {
            fees: account.fees.clone().with(Operation::CryptoIn, fee),
            features: account.features.with(Feature::CryptoIn),
            ..account
        };
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let processor = Processor::new(clock.clone());
        let crypto = CryptoSources {
            processor: Arc::new(processor.clone()),
            rates: Arc::new(processor.clone()),
            spread: Percentage::zero(),
        };
        let mut acquirers = MockAcquirers::new();
        acquirers.expect_named().returning(|_| None);
        acquirers.expect_names().returning(Vec::new);
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            acquirers: Arc::new(acquirers),
            crypto: Some(crypto),
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            keyed_hash: Arc::new(PlainKeyedHash::default()),
            representation: Arc::new(TextRepresentation),
            deliveries: store.clone(),
            // Without expectations, so that a request to a receiver fails the test.
            webhooks: Arc::new(MockWebhookSender::new()),
            secret_cipher: Arc::new(PlainSecretCipher::default()),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        };
        store.commit(steps::open_account(&account)).await.unwrap();
        Self { ports, store, clock, processor, account }
    }

    /// Posts a deposit with the key.
    pub async fn create(&self, key: &str, terms: NewDeposit) -> Result<Response, CreateDepositError> {
        let command = CreateDeposit {
            account: self.account.clone(),
            request: fresh(),
            key: IdempotencyKey::parse(&format!("test-key-{key}")).unwrap(),
            fingerprint: fingerprint(&terms),
            terms,
        };
        create(&self.ports, command).await
    }

    /// Creates a deposit that waits for its payer. Returns its id and the id of its first payment.
    pub async fn pending(&self) -> (CryptoDepositId, ProcessorId) {
        let answer = self.create("pending", two_hundred()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "pending"));
        let id = id_of(&answer);
        let payment = self.deposit(id).await.state.issued().unwrap().payment.clone();
        (id, payment)
    }

    pub async fn quote(&self, centavos: i64) -> Quote {
        let amount = Money::from_centavos(centavos);
        let terms = QuotedTerms { side: Side::Deposit, currency: Currency::UsdtErc20, amount };
        quotes::create(&self.ports, self.ports.crypto.as_ref().unwrap(), &self.account, terms).await.unwrap()
    }

    /// Returns the stored deposit.
    pub async fn deposit(&self, id: CryptoDepositId) -> Deposit {
        self.store.find_crypto_deposit(self.account.id, id).await.unwrap().unwrap()
    }

    /// Reads a deposit, with no earlier read in the same second.
    pub async fn read(&self, id: CryptoDepositId) -> Deposit {
        fetch(&self.ports, &SyncGate::new(), self.account.id, &DepositName::Id(id)).await.unwrap()
    }

    /// Returns the deposits in the account's list.
    pub async fn visible(&self) -> Vec<Deposit> {
        list(&self.ports, self.account.id, PageRequest { limit: 200, starting_after: None }).await.unwrap().rows
    }

    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    pub async fn resume(&self) -> usize {
        resume::run_once(&self.ports).await.unwrap().done
    }

    /// Sends a signed callback about the payment.
    pub async fn call_back(&self, payment: &ProcessorId) -> Result<(), ReceiveError> {
        callbacks::receive_crypto(&self.ports, &self.processor.name, "signed", payment.as_str()).await
    }

    /// Processes the waiting callbacks. Returns the number of finished ones.
    pub async fn process(&self) -> usize {
        callbacks::process::run_once(&self.ports).await.unwrap().done
    }

    /// Returns the account's balance, the fees and the worth of the coins, in centavos.
    pub fn money(&self) -> (i64, i64, i64) {
        let of = |account: &LedgerAccount| self.store.balance(account).centavos();
        let system = |account| of(&LedgerAccount::system(account, self.account.id));
        let available = of(&LedgerAccount::Merchant(self.account.id, Bucket::Available));
        (available, system(SystemAccount::Fees), system(SystemAccount::Crypto(self.processor.name.clone())))
    }

    pub fn events(&self) -> Vec<EventType> {
        self.store.events(self.account.id).iter().map(|stored| stored.event.kind).collect()
    }

    /// Asserts the state of a deposit, the ledger, and that the sums of the deposit are those of the ledger.
    pub async fn check(&self, id: CryptoDepositId, status: DepositStatus, resolution: Option<Resolution>) {
        let deposit = self.deposit(id).await;
        assert_eq!((deposit.state.status(), deposit.resolution), (status, resolution));
        let (available, fees, coins) = self.money();
        let gross = deposit.credited.gross.centavos();
        assert_eq!((available, fees, coins), (gross - fees, deposit.credited.fee.centavos(), -gross));
        assert_eq!(self.store.verify_ledger().await.unwrap().differences, [], "the ledger adds up");
    }

    /// Asserts that the deposit of R$ 200.00 was paid exactly and credited once.
    pub async fn paid(&self, id: CryptoDepositId) {
        self.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
        assert_eq!(self.money(), (19_750, 250, -20_000));
        assert_eq!(self.events(), [EventType::CryptoDepositConfirmed, EventType::CryptoDepositCompleted]);
    }

    /// Asserts that nothing was credited.
    pub fn untouched(&self) {
        assert_eq!(self.money(), (0, 0, 0));
    }
}

/// Returns terms of R$ 200.00 in USDT on Ethereum, without optional fields.
pub fn two_hundred() -> NewDeposit {
    NewDeposit {
        amount: Money::from_centavos(20_000),
        currency: Currency::UsdtErc20,
        description: None,
        external_id: None,
        postback_url: None,
        quote: None,
    }
}

pub fn named(external: &str) -> NewDeposit {
    NewDeposit { external_id: Some(ExternalId::parse(external).unwrap()), ..two_hundred() }
}

pub fn quoted(quote: CryptoQuoteId) -> NewDeposit {
    NewDeposit { quote: Some(quote), ..two_hundred() }
}

/// Returns the id of the deposit in a response.
pub fn id_of(answer: &Response) -> CryptoDepositId {
    CryptoDepositId::parse(body(answer)["id"].as_str().unwrap()).unwrap()
}

/// Returns the status in a response.
pub fn status_of(answer: &Response) -> String {
    body(answer)["status"].as_str().unwrap().to_owned()
}

fn body(answer: &Response) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

fn fingerprint(terms: &NewDeposit) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    format!("{terms:?}").hash(&mut hasher);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Fingerprint(bytes)
}

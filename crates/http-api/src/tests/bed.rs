//! A service without dependencies: a store in memory, a stopped clock, an institution in memory.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::Deposit;
use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::ids::{AccountId, EndpointId, EventId, RequestId};
use cais_domain::infraction::Infraction;
use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::{ApiKeyToken, KeyPrefix, KeySecret, Scopes};
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::UnexpectedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::{
    ApiKeyRecord, CsvDialect, RateDecision, RateLimits, ResourceRenderer, SplitCredit, StatementEntry, Store as _,
    StoredEvent, Transaction,
};
use cais_testkit::builders::{a_key, an_account, main_acquirer, steps};
use cais_testkit::{FakeAcquirers, ManualClock, MemoryStore};
use cais_use_cases::export_places::ExportPlaces;
use cais_use_cases::keys::authenticate::{KeyRing, PURPOSE};
use cais_use_cases::request_log::RequestLog;
use cais_use_cases::sync_gate::SyncGate;
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusBuilder;

use super::super::{
    AppState, AuthFailures, CallbackPaths, Exports, RecentCurrencies, SandboxControls, Telemetry, WorkerWakeups,
};
use super::bank::Bank;
use super::receivers::Receivers;
use super::{App, Listener};
use crate::resources::JsonRenderer;

/// The number of requests that [`Rates`] permits in its window.
pub const LIMIT: u32 = 600;
/// The secret part of the acquirer's callback path.
pub const TOKEN: &str = "callback-token";

/// The service and its parts, for checks in tests.
pub struct TestBed {
    pub state: Arc<AppState>,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub bank: Arc<Bank>,
    pub receivers: Arc<Receivers>,
    pub rates: Arc<Rates>,
    pub account: Account,
    /// A key of the account with every scope.
    pub key: String,
    /// The last offset that a request set for the service's clock, in seconds.
    pub moved_by: Arc<Mutex<Option<i64>>>,
    /// The public listener.
    pub app: App,
}

impl TestBed {
    pub async fn new() -> Self {
        Self::with(an_account(), true).await
    }

    pub async fn with(account: Account, with_sandbox: bool) -> Self {
        let base = cais_testkit::TestBed::new(account).await;
        let cais_testkit::TestBed { mut ports, store, clock, account, psp, .. } = base;
        let (bank, rates) = (Arc::new(Bank::new(psp)), Arc::new(Rates::default()));
        let receivers = Arc::new(Receivers::default());
        ports.acquirers = Arc::new(FakeAcquirers::new(std::slice::from_ref(&bank.psp)));
        ports.representation = Arc::new(Careless(JsonRenderer::new()));
        ports.webhooks = receivers.clone();
        let moved_by = Arc::new(Mutex::new(None));
        let moved = moved_by.clone();
        let move_clock: Arc<dyn Fn(i64) + Send + Sync> =
            Arc::new(move |offset_s| *moved.lock().unwrap() = Some(offset_s));
        let state = AppState {
            keys: KeyRing::new(ports.clone()),
            ports,
            rates: rates.clone(),
            failures: AuthFailures::default(),
            trusted_proxies: vec!["192.0.2.0/24".parse().unwrap()],
            syncs: SyncGate::new(),
            currencies: RecentCurrencies::default(),
            public_url: None,
            exports: Exports::new(ExportPlaces::default()),
            sandbox: with_sandbox.then(|| SandboxControls {
                institution: bank.clone(),
                processor: bank.clone(),
                acquirer: main_acquirer(),
                move_clock,
            }),
            callbacks: CallbackPaths::new([(main_acquirer(), TOKEN)]),
            wake: WorkerWakeups::default(),
            metrics_handle: PrometheusBuilder::new().build_recorder().handle(),
            draining: Arc::new(AtomicBool::new(false)),
            telemetry: Telemetry::new(),
            requests: RequestLog::default(),
            pages: Arc::new(|_| ()),
        };
        let state = Arc::new(state);
        let app = super::app(&state, Listener::Public).await;
        let mut bed = Self { state, app, store, clock, bank, receivers, rates, account, key: String::new(), moved_by };
        bed.key = bed.key_with(Scopes::all()).await;
        bed
    }

    /// Creates a key of the account with these scopes.
    pub async fn key_with(&self, scopes: Scopes) -> String {
        self.key_of(self.account.id, scopes).await
    }

    /// Creates an account that may receive shares, with the address `email`. Returns a key of the account.
    pub async fn beneficiary(&self, email: &str) -> String {
        let account = Account { email: email.to_owned(), ..an_account() };
        self.store.commit(steps::open_account(&account)).await.unwrap();
        self.key_of(account.id, Scopes::all()).await
    }

    /// Creates a key of the account that is valid only from the addresses of `block`, such as `203.0.113.0/24`.
    pub async fn key_from(&self, block: &str) -> String {
        self.key_like(ApiKeyRecord {
            scopes: Scopes::all(),
            allowed_addresses: vec![block.to_owned()],
            ..a_key(self.account.id)
        })
        .await
    }

    async fn key_of(&self, account: AccountId, scopes: Scopes) -> String {
        self.key_like(ApiKeyRecord { scopes, ..a_key(account) }).await
    }

    async fn key_like(&self, record: ApiKeyRecord) -> String {
        let keyed_hash = &self.state.ports.keyed_hash;
        let (mut prefix, mut secret) = ([0; 12], [0; 32]);
        keyed_hash.fill_random(&mut prefix);
        keyed_hash.fill_random(&mut secret);
        let token = ApiKeyToken { prefix: KeyPrefix::from_random(&prefix), secret: KeySecret::from_random(&secret) };
        let keyed_hash = keyed_hash.hash(PURPOSE, token.secret.expose().as_bytes());
        let record = ApiKeyRecord { prefix: token.prefix.clone(), keyed_hash, ..record };
        self.store.commit(steps::add_key(&record)).await.unwrap();
        token.expose()
    }
}

/// A renderer like that of the service, except that it panics at a charge with the description `panic`.
struct Careless(JsonRenderer);

impl ResourceRenderer for Careless {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        let is_harmless = charge.terms.description.as_ref().is_none_or(|text| text.as_str() != "panic");
        assert!(is_harmless, "as asked");
        self.0.charge(charge)
    }

    fn unexpected_payment(&self, payment: &UnexpectedPayment) -> Vec<u8> {
        self.0.unexpected_payment(payment)
    }

    fn split_credit(&self, credit: &SplitCredit) -> Vec<u8> {
        self.0.split_credit(credit)
    }

    fn transactions_csv(&self, rows: &[Transaction], dialect: CsvDialect, is_first: bool) -> Result<Vec<u8>, String> {
        self.0.transactions_csv(rows, dialect, is_first)
    }

    fn entries_csv(&self, rows: Vec<StatementEntry>, dialect: CsvDialect, is_first: bool) -> Vec<u8> {
        self.0.entries_csv(rows, dialect, is_first)
    }

    fn payout(&self, payout: &Payout) -> Vec<u8> {
        self.0.payout(payout)
    }

    fn refund(&self, refund: &Refund) -> Vec<u8> {
        self.0.refund(refund)
    }

    fn infraction(&self, infraction: &Infraction) -> Vec<u8> {
        self.0.infraction(infraction)
    }

    fn crypto_deposit(&self, deposit: &Deposit) -> Vec<u8> {
        self.0.crypto_deposit(deposit)
    }

    fn crypto_withdrawal(&self, withdrawal: &Withdrawal) -> Vec<u8> {
        self.0.crypto_withdrawal(withdrawal)
    }

    fn endpoint(&self, endpoint: &Endpoint) -> Vec<u8> {
        self.0.endpoint(endpoint)
    }

    fn event(&self, event: &StoredEvent) -> Vec<u8> {
        self.0.event(event)
    }

    fn endpoint_test(&self, id: EventId, endpoint: EndpointId, at: Timestamp) -> Vec<u8> {
        self.0.endpoint_test(id, endpoint, at)
    }

    fn account(&self, account: &Account) -> Vec<u8> {
        self.0.account(account)
    }

    fn key(&self, key: &ApiKeyRecord) -> Vec<u8> {
        self.0.key(key)
    }

    fn insufficient_balance(&self, request: RequestId, needed: Money, available: Money) -> Vec<u8> {
        self.0.insufficient_balance(request, needed, available)
    }
}

/// A rate window for all keys together. The window never ends.
#[derive(Default)]
pub struct Rates {
    used: AtomicU32,
}

impl Rates {
    /// Leaves this number of requests in the window.
    pub fn leave(&self, calls: u32) {
        self.used.store(LIMIT - calls, Ordering::SeqCst);
    }
}

#[async_trait]
impl RateLimits for Rates {
    async fn count(&self, _key: &KeyPrefix, now: Timestamp) -> RateDecision {
        let used = self.used.fetch_add(1, Ordering::SeqCst) + 1;
        RateDecision {
            allowed: used <= LIMIT,
            limit: LIMIT,
            remaining: LIMIT.saturating_sub(used),
            reset_s: now.as_second() + 42,
        }
    }
}

//! A service with nothing behind it: a store in memory, a clock that stands still, an acquirer that keeps its charges in a map.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::{ApiKeyToken, KeyPrefix, KeySecret, Scopes};
use cais_domain::charge::Charge;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, ChargeOrder, Clock, IssueError, NoticedPix, RateDecision, RateLimits,
    Representation, Store as _, UpstreamCharge, UpstreamPayment, UpstreamStatus,
};
use cais_testkit::builders::{a_key, a_payment, an_account, main_acquirer, steps};
use cais_testkit::{ManualClock, MemoryStore, PlainMac, SequentialIds};
use cais_use_cases::Ports;
use cais_use_cases::charges::sync::SyncGate;
use cais_use_cases::keys::authenticate::{KeyRing, PURPOSE};
use jiff::{Timestamp, ToSpan as _};
use metrics_exporter_prometheus::PrometheusBuilder;

use super::super::{AppState, CallbackPaths, FaultMode, Institution, SandboxControls, Telemetry, WorkerBell};
use crate::representation::JsonRepresentation;

/// Requests per window.
pub const LIMIT: u32 = 600;
/// The secret part of the acquirer's callback path.
pub const TOKEN: &str = "callback-token";

/// Everything that a test looks at.
pub struct World {
    pub state: Arc<AppState>,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub bank: Arc<Bank>,
    pub rates: Arc<Rates>,
    pub account: Account,
    /// A key of the account with every scope.
    pub key: String,
    pub moved_by: Arc<Mutex<Option<i64>>>,
}

impl World {
    pub async fn new() -> Self {
        Self::with(an_account(), true).await
    }

    pub async fn with(account: Account, with_sandbox: bool) -> Self {
        let store = Arc::new(MemoryStore::default());
        let (clock, bank, rates) =
            (Arc::new(ManualClock::default()), Arc::new(Bank::default()), Arc::new(Rates::default()));
        let ports = Ports {
            store: store.clone(),
            queries: store.clone(),
            maintenance: store.clone(),
            acquirers: Arc::new(OneBank(bank.clone())),
            clock: clock.clone(),
            ids: Arc::new(SequentialIds::default()),
            mac: Arc::new(PlainMac::default()),
            representation: Arc::new(Careless(JsonRepresentation::new())),
        };
        let moved_by = Arc::new(Mutex::new(None));
        let moved = moved_by.clone();
        let move_clock: Arc<dyn Fn(i64) + Send + Sync> =
            Arc::new(move |offset_s| *moved.lock().unwrap() = Some(offset_s));
        let state = AppState {
            keys: KeyRing::new(ports.clone()),
            ports,
            rates: rates.clone(),
            syncs: SyncGate::new(),
            sandbox: with_sandbox.then(|| SandboxControls {
                institution: bank.clone(),
                acquirer: main_acquirer(),
                move_clock,
            }),
            callbacks: CallbackPaths::new([(main_acquirer(), TOKEN)]),
            wake: WorkerBell::new(),
            metrics_handle: PrometheusBuilder::new().build_recorder().handle(),
            draining: Arc::new(AtomicBool::new(false)),
            telemetry: Telemetry::new(),
        };
        store.commit(steps::open_account(&account)).await.unwrap();
        let mut world =
            Self { state: Arc::new(state), store, clock, bank, rates, account, key: String::new(), moved_by };
        world.key = world.key_with(Scopes::all()).await;
        world
    }

    /// A new key of the account.
    pub async fn key_with(&self, scopes: Scopes) -> String {
        let mac = &self.state.ports.mac;
        let (mut prefix, mut secret) = ([0; 12], [0; 32]);
        mac.fill_random(&mut prefix);
        mac.fill_random(&mut secret);
        let token = ApiKeyToken { prefix: KeyPrefix::from_random(&prefix), secret: KeySecret::from_random(&secret) };
        let mac = mac.code(PURPOSE, token.secret.expose().as_bytes());
        let record = cais_ports::ApiKeyRecord { prefix: token.prefix.clone(), mac, scopes, ..a_key(self.account.id) };
        self.store.commit(steps::add_key(&record)).await.unwrap();
        token.expose()
    }
}

/// Renders as the service does, and panics at a charge that asks for it.
struct Careless(JsonRepresentation);

impl Representation for Careless {
    fn charge(&self, charge: &Charge) -> Vec<u8> {
        let is_harmless = charge.terms.description.as_ref().is_none_or(|text| text.as_str() != "panic");
        assert!(is_harmless, "as asked");
        self.0.charge(charge)
    }
}

/// A window that never ends, for all keys together.
#[derive(Default)]
pub struct Rates {
    used: AtomicU32,
}

impl Rates {
    /// Leaves so many calls.
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

/// An institution that does at once what it is asked, or nothing at all.
#[derive(Default)]
pub struct Bank {
    charges: Mutex<BTreeMap<Txid, UpstreamCharge>>,
    pub faults: Mutex<Option<(FaultMode, Duration)>>,
    pub is_down: AtomicBool,
}

impl Bank {
    /// When each charge can no longer be paid.
    pub fn expires_at(&self) -> Vec<Timestamp> {
        self.charges.lock().unwrap().values().map(|charge| charge.expires_at).collect()
    }

    fn change(&self, txid: &Txid, change: impl FnOnce(&mut UpstreamCharge)) -> Result<(), String> {
        let mut charges = self.charges.lock().unwrap();
        charges.get_mut(txid).map(change).ok_or_else(|| "unknown".to_owned())
    }

    fn order(&self, order: &ChargeOrder, now: Timestamp) -> UpstreamCharge {
        let mut charges = self.charges.lock().unwrap();
        let new = || UpstreamCharge {
            txid: order.txid.clone(),
            amount: order.amount,
            status: UpstreamStatus::Active,
            copy_paste: Some(format!("00020126{}6304ABCD", order.txid)),
            expires_at: now + i64::from(order.expires_in_s).seconds(),
            payments: Vec::new(),
        };
        charges.entry(order.txid.clone()).or_insert_with(new).clone()
    }
}

impl Institution for Bank {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), String> {
        self.change(txid, |charge| {
            let paid = a_payment(amount.unwrap_or(charge.amount).centavos());
            charge.status = UpstreamStatus::Completed;
            charge.payments.push(UpstreamPayment {
                end_to_end_id: paid.end_to_end_id,
                amount: paid.amount,
                paid_at: paid.paid_at,
                returned: Money::ZERO,
            });
        })
    }

    fn expire(&self, txid: &Txid) -> Result<(), String> {
        self.change(txid, |charge| charge.expires_at = Timestamp::UNIX_EPOCH)
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), String> {
        *self.faults.lock().unwrap() = Some((mode, latency));
        Ok(())
    }

    fn set_clock_offset(&self, _offset_s: i64) -> Result<(), String> {
        Ok(())
    }
}

/// The bank as the only acquirer.
struct OneBank(Arc<Bank>);

#[async_trait]
impl Acquirers for OneBank {
    fn first(&self) -> Option<AcquirerName> {
        Some(main_acquirer())
    }

    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        _: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
        if self.0.is_down.load(Ordering::SeqCst) {
            return Err(IssueError::NoneTook { reasons: Vec::new() });
        }
        Ok((begin_with.clone(), self.0.order(order, ManualClock::default().now())))
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        Some(Arc::new(Named(name.clone(), self.0.clone())))
    }
}

struct Named(AcquirerName, Arc<Bank>);

#[async_trait]
impl Acquirer for Named {
    fn name(&self) -> &AcquirerName {
        &self.0
    }

    async fn create_charge(&self, order: &ChargeOrder, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        Ok(self.1.order(order, ManualClock::default().now()))
    }

    async fn find_charge(&self, txid: &Txid, _: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        Ok(self.1.charges.lock().unwrap().get(txid).cloned())
    }

    async fn cancel_charge(&self, txid: &Txid, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        let withdraw = |charge: &mut UpstreamCharge| {
            if charge.status == UpstreamStatus::Active {
                charge.status = UpstreamStatus::Removed;
            }
        };
        self.1.change(txid, withdraw).map_err(AcquirerError::Refused)?;
        self.find_charge(txid, Duration::ZERO).await?.ok_or_else(|| AcquirerError::Refused("unknown".to_owned()))
    }

    fn notice_pix(&self, _: &[u8]) -> Result<Vec<NoticedPix>, AcquirerError> {
        Ok(Vec::new())
    }

    async fn register_callback(&self, _: &str, _: Duration) -> Result<(), AcquirerError> {
        Ok(())
    }
}

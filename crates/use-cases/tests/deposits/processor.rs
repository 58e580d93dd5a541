//! The simulated crypto processor of deposits. Every creation makes a new payment, also a repeat with the same identifier.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    AcquirerError, Clock as _, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder,
    ExchangeRates, ListRequest, UnreadableRow, UpstreamDeposit, UpstreamDepositStatus, UpstreamPage,
    UpstreamWithdrawal, UsdRate,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::a_processor_id;
use jiff::Timestamp;

/// The reply to requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Answers,
    /// The request certainly has no effect.
    Down,
    Refuses,
    /// The request has no effect, and no reply comes.
    Silent,
    /// The request has an effect, and no reply comes.
    LosesReplies,
}

pub struct State {
    pub creating: Reply,
    pub reading: Reply,
    pub minimum: &'static str,
    /// BRL for a dollar; `None`: no answer.
    pub brl_per_usd: Option<&'static str>,
    pub published_at: Timestamp,
    pub payments: Vec<UpstreamDeposit>,
    /// Rows of the list that cannot be read.
    pub unreadable: Vec<UnreadableRow>,
}

/// A simulated processor and source of rates. Clones share it.
#[derive(Clone)]
pub struct Processor {
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    state: Arc<Mutex<State>>,
}

impl Processor {
    pub fn new(clock: Arc<ManualClock>) -> Self {
        let state = State {
            creating: Reply::Answers,
            reading: Reply::Answers,
            minimum: "1",
            brl_per_usd: Some("5.40"),
            published_at: clock.now(),
            payments: Vec::new(),
            unreadable: Vec::new(),
        };
        Self { name: AcquirerName::parse("coins").unwrap(), clock, state: Arc::new(Mutex::new(state)) }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes the first payment with this id.
    pub fn set(&self, id: &ProcessorId, change: impl FnOnce(&mut UpstreamDeposit)) {
        change(self.state().payments.iter_mut().find(|payment| payment.id == *id).unwrap());
    }

    /// Sets status and coins of the payment.
    pub fn pay(&self, id: &ProcessorId, status: UpstreamDepositStatus, usdt: &str) {
        let coins = CryptoAmount::parse(Currency::UsdtErc20, usdt).unwrap();
        self.set(id, |payment| {
            (payment.status, payment.received) = (status, Some(ArrivedCoins::Supported(coins)));
            payment.tx_hash = Some("0xabc".to_owned());
        });
    }

    /// Adds a later payment to the address, without our identifier.
    pub fn pay_again(&self, parent: &ProcessorId, usdt: &str) -> ProcessorId {
        let (id, at) = (a_processor_id(), self.clock.now());
        let first = self.state().payments.iter().find(|payment| payment.id == *parent).unwrap().clone();
        let child = UpstreamDeposit {
            id: id.clone(),
            parent: Some(parent.clone()),
            order: None,
            created_at: Some(at),
            ..first
        };
        self.state().payments.push(child);
        self.pay(&id, UpstreamDepositStatus::Finished, usdt);
        id
    }

    fn create(&self, order: &CryptoDepositOrder) -> UpstreamDeposit {
        let number = self.state().payments.len();
        let address = format!("0x{:040x}", number + 1);
        let payment = UpstreamDeposit {
            id: a_processor_id(),
            parent: None,
            order: Some(order.id),
            status: UpstreamDepositStatus::Waiting,
            address: Some(Address::parse(order.amount.currency(), &address).unwrap()),
            extra_id: None,
            asked: Some(order.amount),
            received: None,
            tx_hash: None,
            created_at: Some(self.clock.now()),
            updated_at: None,
        };
        self.state().payments.push(payment.clone());
        payment
    }

    fn read<T>(&self, read: impl FnOnce(&[UpstreamDeposit]) -> Result<T, AcquirerError>) -> Result<T, AcquirerError> {
        let state = self.state();
        match state.reading {
            Reply::Answers => read(&state.payments),
            Reply::Down => down(),
            Reply::Refuses | Reply::Silent | Reply::LosesReplies => silent(),
        }
    }
}

fn silent<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::OutcomeUnknown("no answer".to_owned()))
}

fn down<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::Unavailable("no connection".to_owned()))
}

#[async_trait]
impl CryptoProcessor for Processor {
    fn name(&self) -> &AcquirerName {
        &self.name
    }

    async fn minimum(&self, _: Side, currency: Currency, _: Duration) -> Result<CryptoAmount, AcquirerError> {
        Ok(CryptoAmount::parse(currency, self.state().minimum).unwrap())
    }

    async fn usdt_per_coin(&self, _: Currency, _: Duration) -> Result<Rate, AcquirerError> {
        Ok(Rate::parse("1").unwrap())
    }

    async fn accepts_address(&self, _: &Address, _: Duration) -> Result<bool, AcquirerError> {
        down()
    }

    async fn create_deposit(&self, order: &CryptoDepositOrder, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        let reply = self.state().creating;
        match reply {
            Reply::Answers => Ok(self.create(order)),
            Reply::Down => down(),
            Reply::Refuses => Err(AcquirerError::Refused("AMOUNT_MINIMAL_ERROR".to_owned())),
            Reply::Silent => silent(),
            Reply::LosesReplies => {
                self.create(order);
                silent()
            }
        }
    }

    async fn get_deposit(&self, id: &ProcessorId, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        self.read(|payments| match payments.iter().find(|payment| payment.id == *id) {
            Some(payment) => Ok(payment.clone()),
            None => silent(),
        })
    }

    async fn find_deposit(&self, id: CryptoDepositId, _: Duration) -> Result<Option<UpstreamDeposit>, AcquirerError> {
        self.read(|payments| Ok(payments.iter().find(|one| one.order == Some(id) && one.parent.is_none()).cloned()))
    }

    async fn list_deposits(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        let unreadable = self.state().unreadable.clone();
        self.read(|payments| {
            let rows = payments.iter().rev().cloned().collect();
            Ok(UpstreamPage { unreadable, ..UpstreamPage::new(rows, None) })
        })
    }

    async fn create_withdrawal(
        &self,
        _: &CryptoWithdrawalOrder,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        down()
    }

    async fn verify_withdrawal(&self, _: &ProcessorId, _: Timestamp, _: Duration) -> Result<(), AcquirerError> {
        down()
    }

    async fn get_withdrawal(
        &self,
        _: CryptoWithdrawalId,
        _: &ProcessorId,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        down()
    }

    async fn find_withdrawal(
        &self,
        _: CryptoWithdrawalId,
        _: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
        down()
    }

    async fn balances(&self, _: Duration) -> Result<Vec<CryptoAmount>, AcquirerError> {
        down()
    }

    /// Reads the id of a payment. The signature must be `signed`.
    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError> {
        let id = ProcessorId::parse(&String::from_utf8_lossy(body)).ok().filter(|_| signature == "signed");
        let id = id.ok_or_else(|| AcquirerError::Refused("the signature is wrong".to_owned()))?;
        Ok(Some(CryptoCallback::Deposit { id, parent: None, order: None }))
    }
}

#[async_trait]
impl ExchangeRates for Processor {
    async fn usd_rate(&self, _: Timestamp, _: Duration) -> Result<UsdRate, AcquirerError> {
        let state = self.state();
        let Some(brl) = state.brl_per_usd else { return down() };
        let rate = || Rate::parse(brl).unwrap();
        Ok(UsdRate { buy: rate(), sell: rate(), published_at: state.published_at })
    }
}

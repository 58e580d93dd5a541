//! A single account with money over an empty store, with a simulated processor and a manual clock.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::crypto::{Address, Currency, Quote, Side};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ledger::SystemAccount;
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{PageRequest, ResponseKind};
use cais_testkit::FakeAcquirers;
pub use cais_testkit::bed::{LONG, PAST_LEASE, body, id_of, status_of};
use cais_testkit::bed::{a_request_key, fingerprint};
use cais_testkit::builders::{an_account, an_operator, fresh};
use cais_use_cases::crypto::quotes;
use cais_use_cases::crypto::withdrawals::create::{CreateWithdrawal, CreateWithdrawalError, NewWithdrawal, create};
use cais_use_cases::crypto::withdrawals::fetch::{FetchError, fetch};
use cais_use_cases::crypto::withdrawals::list::list;
use cais_use_cases::crypto::withdrawals::review::{Decision, MissingRecord, ResolveError, resolve};
use cais_use_cases::crypto::withdrawals::{WithdrawalName, poll};
use cais_use_cases::{Response, SyncGate};

/// A time that is longer than every pause. If the processor does not show a withdrawal for this time, the withdrawal
/// needs an operator.
pub const PAST_REVIEW: Duration = Duration::from_mins(16);
/// The initial balance in centavos: two withdrawals of R$ 100.00 with their fees, and R$ 49.00 more.
pub const FUNDS: i64 = 25_000;
/// The fee of every withdrawal, in centavos.
pub const FEE: i64 = 50;
/// The smallest withdrawal in centavos: 20 USDT cost R$ 100.00.
pub const AMOUNT: i64 = 10_000;

pub const ADDRESS: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
pub const OTHER_ADDRESS: &str = "0xde709f2102306220921060314715629080e2fb77";

cais_testkit::test_bed!();

impl TestBed {
    /// Creates an approved account with [`FUNDS`] and a fee of [`FEE`]. A dollar costs R$ 5.00.
    pub async fn new() -> Self {
        let fee = FeeRule::try_new(Money::from_centavos(FEE), Percentage::zero(), None, None).unwrap();
        let account = an_account();
        let account = Account {
            fees: account.fees.clone().with(Operation::CryptoOut, fee),
            features: account.features.with(Feature::CryptoOut),
            ..account
        };
        let bed = cais_testkit::TestBed::new(account).await.with_acquirers(FakeAcquirers::new(&[])).with_crypto("0");
        bed.fund(FUNDS).await;
        Self(bed)
    }

    /// Posts a withdrawal with the key.
    pub async fn create(&self, key: &str, terms: NewWithdrawal) -> Result<Response, CreateWithdrawalError> {
        create(&self.ports, self.command(key, terms)).await
    }

    pub fn command(&self, key: &str, terms: NewWithdrawal) -> CreateWithdrawal {
        CreateWithdrawal {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(key),
            fingerprint: fingerprint(&terms),
            terms,
        }
    }

    /// Creates and verifies a withdrawal of R$ 100.00 with an open outcome.
    pub async fn processing(&self) -> Withdrawal {
        let answer = self.create("processing", a_hundred()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "processing"));
        self.only()
    }

    /// Creates a withdrawal that waits for an operator, because the processor does not show it.
    pub async fn absent(&self) -> Withdrawal {
        self.processor.set(cais_testkit::psp::OrderReply::Silent);
        self.processing().await;
        self.clock.advance(PAST_REVIEW);
        assert_eq!(self.poll().await, 0);
        self.only()
    }

    /// Requests a quote of R$ 100.00.
    pub async fn quote(&self) -> Quote {
        let terms =
            QuotedTerms { side: Side::Withdrawal, currency: Currency::UsdtErc20, amount: Money::from_centavos(AMOUNT) };
        quotes::create(&self.ports, self.ports.crypto.as_ref().unwrap(), &self.account, terms).await.unwrap()
    }

    /// Returns the only withdrawal, visible or not.
    pub fn only(&self) -> Withdrawal {
        let withdrawals = self.store.crypto_withdrawals();
        assert_eq!(withdrawals.len(), 1, "{withdrawals:?}");
        withdrawals[0].clone()
    }

    /// Returns the status of the only withdrawal.
    pub fn status(&self) -> WithdrawalStatus {
        self.only().state.status()
    }

    /// Reads the only withdrawal. The processor is read too, because no earlier read limits this one.
    pub async fn read(&self) -> Result<Withdrawal, FetchError> {
        let name = WithdrawalName::Id(self.only().id);
        fetch(&self.ports, &SyncGate::new(), self.account.id, &name).await
    }

    /// Returns the number of withdrawals in the account's list.
    pub async fn visible(&self) -> usize {
        let page = PageRequest { limit: 200, starting_after: None };
        list(&self.ports, self.account.id, page).await.unwrap().rows.len()
    }

    /// Runs one pass of the poller. Returns the number of ended withdrawals.
    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Decides the only withdrawal as an operator.
    pub async fn resolve(&self, decision: Decision) -> Result<Withdrawal, ResolveError> {
        self.resolve_with(decision, MissingRecord::Refused).await
    }

    /// Decides the only withdrawal. Its processor will never answer again.
    pub async fn resolve_without_processor(&self, decision: Decision) -> Result<Withdrawal, ResolveError> {
        self.resolve_with(decision, MissingRecord::Accepted).await
    }

    async fn resolve_with(&self, decision: Decision, missing: MissingRecord) -> Result<Withdrawal, ResolveError> {
        let note = text("asked \"them\"");
        resolve(&self.ports, &an_operator(), self.only().id, (&decision, &note), missing).await
    }

    /// Returns the available balance and the balance in transit, in centavos.
    pub fn money(&self) -> (i64, i64) {
        (self.available(), self.in_transit())
    }

    /// Returns the earned fees, and the amount for which coins were sent, in centavos.
    pub fn earned(&self) -> (i64, i64) {
        let coins = SystemAccount::Crypto(self.processor.name.clone());
        (self.in_system(SystemAccount::Fees), self.in_system(coins))
    }

    /// Returns the published events of withdrawals in order.
    pub fn event_types(&self) -> Vec<EventType> {
        self.later_event_types()
    }

    /// Asserts that the sums of the ledger are right, and that no creation was sent twice.
    pub async fn check(&self) {
        self.0.check().await;
        let requests = self.processor.requests_by_id();
        assert!(requests.values().all(|count| *count <= 1), "each creation leaves once: {requests:?}");
    }

    /// Asserts that the money is held and no outcome was published.
    pub async fn held(&self) {
        assert_eq!((self.money(), self.earned()), ((FUNDS - AMOUNT - FEE, AMOUNT + FEE), (0, 0)));
        assert_eq!((self.status(), self.event_types()), (WithdrawalStatus::Processing, vec![]));
        self.check().await;
    }

    /// Asserts that the coins were sent once and paid once.
    pub async fn paid(&self) {
        assert_eq!((self.money(), self.earned()), ((FUNDS - AMOUNT - FEE, 0), (FEE, AMOUNT)));
        let completed = vec![EventType::CryptoWithdrawalCompleted];
        assert_eq!((self.status(), self.event_types()), (WithdrawalStatus::Completed, completed));
        self.check().await;
    }

    /// Asserts that the money was returned to the account once.
    pub async fn money_returned(&self) {
        assert_eq!((self.money(), self.earned()), ((FUNDS, 0), (0, 0)));
        let failed = vec![EventType::CryptoWithdrawalFailed];
        assert_eq!((self.status(), self.event_types()), (WithdrawalStatus::Failed, failed));
        self.check().await;
    }

    /// Asserts that the whole balance is present, no withdrawal is visible and no event was published.
    pub async fn untouched(&self) {
        assert_eq!((self.money(), self.earned(), self.event_types()), ((FUNDS, 0), (0, 0), vec![]));
        assert_eq!(self.visible().await, 0);
        self.check().await;
    }
}

pub fn text(text: &str) -> Text {
    Text::parse(text, 140, LineBreaks::Refused).unwrap()
}

/// Returns terms of R$ 100.00 in USDT on Ethereum, without optional fields.
pub fn a_hundred() -> NewWithdrawal {
    NewWithdrawal {
        amount: Money::from_centavos(AMOUNT),
        address: Address::parse(Currency::UsdtErc20, ADDRESS).unwrap(),
        description: None,
        external_id: None,
        origin: Origin::Api,
        quote: None,
    }
}

pub fn named(external: &str, terms: NewWithdrawal) -> NewWithdrawal {
    NewWithdrawal { external_id: Some(ExternalId::parse(external).unwrap()), ..terms }
}

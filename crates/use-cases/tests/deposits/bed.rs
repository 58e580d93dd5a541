//! A single account over an empty store, with a simulated processor and a manual clock.

use std::time::Duration;

use cais_domain::charge::Origin;
use cais_domain::crypto::deposit::{Deposit, DepositStatus, Resolution};
use cais_domain::crypto::quote::QuotedTerms;
use cais_domain::crypto::{Currency, ProcessorId, Quote, Side};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ids::{CryptoDepositId, CryptoQuoteId};
use cais_domain::ledger::SystemAccount;
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::{Clock as _, CryptoDepositQueries as _, PageRequest, ResponseKind};
use cais_testkit::FakeAcquirers;
pub use cais_testkit::bed::{LONG, PAST_LEASE, status_of};
use cais_testkit::bed::{a_request_key, fingerprint};
use cais_testkit::builders::{an_account, fresh};
use cais_use_cases::callbacks::{self, ReceiveError};
use cais_use_cases::crypto::deposits::create::{CreateDeposit, CreateDepositError, NewDeposit, create};
use cais_use_cases::crypto::deposits::fetch::fetch;
use cais_use_cases::crypto::deposits::list::list;
use cais_use_cases::crypto::deposits::{DepositName, poll};
use cais_use_cases::crypto::quotes;
use cais_use_cases::{Response, SyncGate};

/// A time that is just longer than the payment period.
pub const PAST_PERIOD: Duration = Duration::from_secs(20 * 60 + 1);
/// The coins for R$ 200.00 at R$ 5.40, rounded up.
pub const COINS: &str = "37.037038";

cais_testkit::test_bed!();

impl TestBed {
    /// Creates an approved account with a fee of R$ 0.50 and 1 %. A dollar costs R$ 5.40.
    pub async fn new() -> Self {
        let fee = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("1").unwrap(), None, None).unwrap();
        let account = an_account();
        let account = Account {
            fees: account.fees.clone().with(Operation::CryptoIn, fee),
            features: account.features.with(Feature::CryptoIn),
            ..account
        };
        let bed = cais_testkit::TestBed::new(account).await.with_acquirers(FakeAcquirers::new(&[])).with_crypto("0");
        let mut state = bed.processor.state();
        (state.minimum, state.brl_per_usd) = (Some("1"), Some(("5.40", "5.40")));
        state.published_at = Some(bed.clock.now());
        drop(state);
        Self(bed)
    }

    /// Posts a deposit with the key.
    pub async fn create(&self, key: &str, terms: NewDeposit) -> Result<Response, CreateDepositError> {
        let command = CreateDeposit {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(key),
            fingerprint: fingerprint(&terms),
            terms,
        };
        create(&self.ports, command).await
    }

    /// Creates a deposit that waits for a payment. Returns its id and the id of its first payment.
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

    /// Reads a deposit. The processor is read too, because no earlier read limits this one.
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

    /// Sends a signed callback about the payment.
    pub async fn receive_callback(&self, payment: &ProcessorId) -> Result<(), ReceiveError> {
        self.receive_signed_callback("signed", payment).await
    }

    /// Sends a callback about the payment with this signature.
    pub async fn receive_signed_callback(&self, signature: &str, payment: &ProcessorId) -> Result<(), ReceiveError> {
        let body = format!("deposit:{payment}");
        callbacks::receive_crypto(&self.ports, &self.processor.name, signature, body).await
    }

    /// Returns the account's balance, the fees and the value of the coins, in centavos.
    pub fn money(&self) -> (i64, i64, i64) {
        let coins = SystemAccount::Crypto(self.processor.name.clone());
        (self.available(), self.in_system(SystemAccount::Fees), self.in_system(coins))
    }

    /// Asserts the state of a deposit and the rules of the ledger. The sums of the deposit must be those of the ledger.
    pub async fn check(&self, id: CryptoDepositId, status: DepositStatus, resolution: Option<Resolution>) {
        let deposit = self.deposit(id).await;
        assert_eq!((deposit.state.status(), deposit.resolution), (status, resolution));
        let (available, fees, coins) = self.money();
        let gross = deposit.credited.gross.centavos();
        assert_eq!((available, fees, coins), (gross - fees, deposit.credited.fee.centavos(), -gross));
        self.0.check().await;
    }

    /// Asserts that the deposit of R$ 200.00 was paid exactly and credited once.
    pub async fn paid(&self, id: CryptoDepositId) {
        self.check(id, DepositStatus::Completed, Some(Resolution::Exact)).await;
        assert_eq!(self.money(), (19_750, 250, -20_000));
        assert_eq!(self.event_types(), [EventType::CryptoDepositConfirmed, EventType::CryptoDepositCompleted]);
    }

    /// Asserts that no money was credited.
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
        origin: Origin::Api,
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
    cais_testkit::bed::id_of(answer)
}

//! A single account with money over an empty store, with simulated acquirers and a manual clock.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Origin;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::{FeeRule, Operation};
use cais_domain::ids::PayoutId;
use cais_domain::ledger::SystemAccount;
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::pix_key::PixKey;
use cais_domain::rate::Percentage;
use cais_ports::{CallbackState, PageRequest, UpstreamPayout, UpstreamProgress};
pub use cais_testkit::bed::{LONG, PAST_LEASE, body, status_of};
use cais_testkit::bed::{a_request_key, fingerprint};
use cais_testkit::builders::{a_recipient, an_account, an_end_to_end_id, fresh, main_acquirer};
use cais_testkit::psp::ListReply;
use cais_use_cases::payouts::create::{CreatePayout, CreatePayoutError, NewPayout, create};
use cais_use_cases::payouts::fetch::{FetchError, fetch};
use cais_use_cases::payouts::list::list;
use cais_use_cases::payouts::{PayoutName, poll};
use cais_use_cases::{Response, SyncGate};
use futures_util::FutureExt as _;

/// The initial balance in centavos: one payout of R$ 10.00 with its fee, and R$ 9.50 more.
pub const FUNDS: i64 = 2_000;
/// The fee of every payout, in centavos.
pub const FEE: i64 = 50;

cais_testkit::test_bed!();

impl TestBed {
    /// Creates an approved account with [`FUNDS`] and a fee of [`FEE`].
    pub async fn new() -> Self {
        let fee = FeeRule::try_new(Money::from_centavos(FEE), Percentage::zero(), None, None).unwrap();
        let account = an_account();
        let fees = account.fees.clone().with(Operation::PixOut, fee);
        let bed = cais_testkit::TestBed::new(Account { fees, ..account }).await;
        bed.psp.set_list_replies(ListReply::Pages(1));
        bed.fund(FUNDS).await;
        Self(bed)
    }

    /// Returns the same test bed over a store at which all tasks read before any task writes.
    pub fn contended(&self) -> Self {
        Self(self.0.contended())
    }

    /// Returns the same test bed with a hook before each commit is checked.
    pub fn before_commits(&self, hook: impl FnMut() + Send + 'static) -> Self {
        Self(self.0.before_commits(hook))
    }

    /// Returns the same test bed with a hook after each commit, before its caller has the result.
    pub fn after_commits(&self, hook: impl FnMut() + Send + 'static) -> Self {
        Self(self.0.after_commits(hook))
    }

    /// Posts a payout with the key.
    pub async fn create(&self, key: &str, terms: NewPayout) -> Result<Response, CreatePayoutError> {
        create(&self.ports, self.command(key, terms)).await
    }

    pub fn command(&self, key: &str, terms: NewPayout) -> CreatePayout {
        CreatePayout {
            account: self.account.clone(),
            request: fresh(),
            key: a_request_key(key),
            fingerprint: fingerprint(&terms),
            terms,
        }
    }

    /// Creates a payout of R$ 10.00 with an open outcome.
    pub async fn processing(&self) -> Payout {
        let answer = self.create("processing", ten_reais()).await.unwrap();
        assert_eq!(status_of(&answer), "processing");
        self.payout(id_of(&answer))
    }

    /// Creates a completed payout of R$ 10.00.
    pub async fn completed(&self) -> Payout {
        self.processing().await;
        self.psp.complete();
        self.clock.advance(Duration::from_secs(2));
        assert_eq!(self.poll().await, 1);
        self.only_payout()
    }

    /// Returns the stored payout, visible or not.
    pub fn payout(&self, id: PayoutId) -> Payout {
        self.store.payouts().into_iter().find(|payout| payout.id == id).unwrap()
    }

    /// Returns the only payout.
    pub fn only_payout(&self) -> Payout {
        let payouts = self.store.payouts();
        assert_eq!(payouts.len(), 1, "{payouts:?}");
        payouts[0].clone()
    }

    /// Returns the status of the only payout.
    pub fn status(&self) -> PayoutStatus {
        self.only_payout().state.status()
    }

    /// Reads a payout. The acquirer is read too, because no earlier read limits this one.
    pub async fn read(&self, id: PayoutId) -> Result<Payout, FetchError> {
        fetch(&self.ports, &SyncGate::new(), self.account.id, &PayoutName::Id(id)).await
    }

    /// Reads a payout by its external id.
    pub async fn read_external(&self, external: &str) -> Result<Payout, FetchError> {
        let name = PayoutName::External(ExternalId::parse(external).unwrap());
        fetch(&self.ports, &SyncGate::new(), self.account.id, &name).await
    }

    /// Returns the number of payouts in the account's list.
    pub async fn visible(&self) -> usize {
        let page = PageRequest { limit: 200, starting_after: None };
        list(&self.ports, self.account.id, page).await.unwrap().rows.len()
    }

    /// Runs one pass of the poller. Returns the number of ended payouts.
    pub async fn poll(&self) -> usize {
        poll::run_once(&self.ports).await.unwrap().done
    }

    /// Receives a callback with the payout, without processing it.
    pub async fn receive_callback(&self, payout: &Payout) {
        self.0.receive_callback(&format!("sent:{}", payout.instruction_id())).await;
    }

    /// Receives a callback with the payout and its return, without processing it.
    pub async fn receive_return_callback(&self, payout: &Payout, return_id: &ReturnId) {
        self.0.receive_callback(&format!("sent:{}/{return_id}", payout.instruction_id())).await;
    }

    pub fn callbacks(&self) -> Vec<CallbackState> {
        self.store.callbacks().iter().map(|callback| callback.state).collect()
    }

    /// Returns the available balance and the balance in transit, in centavos.
    pub fn money(&self) -> (i64, i64) {
        (self.available(), self.in_transit())
    }

    /// Returns the earned fees in centavos.
    pub fn fees(&self) -> i64 {
        self.in_system(SystemAccount::Fees)
    }

    /// Returns the amount that left through this acquirer since the start, in centavos.
    pub fn left(&self, acquirer: &AcquirerName) -> i64 {
        let funds = if *acquirer == main_acquirer() { FUNDS } else { 0 };
        self.in_system(SystemAccount::Settlement(acquirer.clone())) + funds
    }

    /// Returns the published events of payouts in order.
    pub fn event_types(&self) -> Vec<EventType> {
        self.later_event_types()
    }

    /// Asserts that no money was lost, moved twice or credited wrongly. The account must lack exactly the amount that
    /// left.
    pub async fn check(&self) {
        self.0.check().await;
        let names = self.psp.payout_orders().into_iter().map(|order| order.instruction_id);
        let known: Vec<_> = self.store.payouts().iter().map(Payout::instruction_id).collect();
        assert!(names.into_iter().all(|name| known.contains(&name)), "only our names are sent");
    }

    /// Asserts that the whole balance is present and no event was published.
    pub async fn untouched(&self) {
        assert_eq!((self.money(), self.fees(), self.event_types()), ((FUNDS, 0), 0, vec![]));
        assert_eq!(self.visible().await, 0);
        self.check().await;
    }
}

/// Returns the output of a future that is ready at once.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

/// Returns terms of R$ 10.00 to an e-mail key, without optional fields.
pub fn ten_reais() -> NewPayout {
    reais(10)
}

pub fn reais(reais: i64) -> NewPayout {
    NewPayout {
        amount: Money::from_centavos(reais * 100),
        pix_key: PixKey::parse("ana@bank.example").unwrap(),
        recipient_document: None,
        description: None,
        external_id: None,
        origin: Origin::Api,
    }
}

pub fn named(external: &str, terms: NewPayout) -> NewPayout {
    NewPayout { external_id: Some(ExternalId::parse(external).unwrap()), ..terms }
}

/// Returns the acquirer's record of the payout.
pub fn upstream(payout: &Payout, progress: UpstreamProgress) -> UpstreamPayout {
    UpstreamPayout {
        instruction_id: payout.instruction_id(),
        end_to_end_id: Some(an_end_to_end_id()),
        amount: payout.terms.amount,
        recipient: a_recipient(),
        progress,
        awaits_approval: false,
        returned: Vec::new(),
    }
}

/// Returns the id of the payout in a response.
pub fn id_of(answer: &Response) -> PayoutId {
    cais_testkit::bed::id_of(answer)
}

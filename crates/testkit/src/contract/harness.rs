//! A store under test, opened and closed by its engine.

use std::sync::Arc;

use async_trait::async_trait;
use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, EndpointId, EventId, Id, IdKind, RefundId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::{
    Balances, ChangeSet, CommitError, Committed, Delivery, DeliveryQueries, DeliveryQueue, EventFilter, EventPage,
    EventQueries, Maintenance, Page, PageRequest, Queries, Store, StoredEvent, Write,
};
use tokio::runtime::Runtime;

use crate::builders::{a_payment, a_payout, an_account, an_endpoint, main_acquirer, pending_charge, start, steps};

/// The largest number of rows in any list of a test. A longer list counts as endless.
const MOST_ROWS: usize = 10_000;

/// A store with all its ports.
pub trait WholeStore: Store + Queries + Maintenance + DeliveryQueue {}

impl<T: Store + Queries + Maintenance + DeliveryQueue> WholeStore for T {}

/// A kind of store, and the place of its data. The place exists as long as the engine.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Opens the store with its schema in place. The store is empty the first time, and keeps its data later.
    async fn open(&self) -> anyhow::Result<Arc<dyn WholeStore>>;

    /// Closes the store that `open` returned last.
    async fn close(&self) -> anyhow::Result<()>;
}

/// The environment of a contract test.
pub struct Harness {
    engine: Box<dyn Engine>,
    /// The store.
    pub store: Arc<dyn WholeStore>,
}

/// Runs a contract test on its own runtime. Afterwards the ledger must be consistent.
pub fn run(engine: Box<dyn Engine>, case: impl AsyncFnOnce(&mut Harness)) {
    Runtime::new().unwrap().block_on(async {
        let store = engine.open().await.unwrap();
        let mut harness = Harness { engine, store };
        case(&mut harness).await;
        harness.audit().await;
        let Harness { engine, store } = harness;
        drop(store);
        engine.close().await.unwrap();
    });
}

impl Harness {
    /// Closes the store and opens it again.
    pub async fn reopen(&mut self) {
        self.engine.close().await.unwrap();
        self.store = self.engine.open().await.unwrap();
    }

    /// Commits the change set.
    ///
    /// # Errors
    /// The store's error.
    pub async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        self.store.commit(change).await
    }

    /// Commits a change set that must be accepted.
    pub async fn commit_ok(&self, change: ChangeSet) -> Committed {
        self.commit(change).await.unwrap()
    }

    /// Stores a new account. Returns the account as stored, with version 1.
    pub async fn account(&self) -> Account {
        let account = an_account();
        self.commit_ok(steps::open_account(&account)).await;
        Account { version: 1, ..account }
    }

    /// Stores the charge. Returns the charge as stored, with version 1.
    pub async fn charge(&self, charge: Charge) -> Charge {
        self.commit_ok(steps::open_charge(&charge)).await;
        Charge { version: 1, ..charge }
    }

    /// Stores a charge that waits for its payer. Returns the charge as stored, with version 1.
    pub async fn pending_charge(&self, account: AccountId) -> Charge {
        self.charge(pending_charge(account)).await
    }

    /// Stores the payout without moving its money. Returns the payout as stored, with version 1.
    pub async fn payout(&self, payout: Payout) -> Payout {
        self.commit_ok(ChangeSet { transfers: Vec::new(), ..steps::open_payout(&payout) }).await;
        Payout { version: 1, ..payout }
    }

    /// Funds the account, opens a payout and holds its money. Returns the payout as stored, with version 1.
    pub async fn held_payout(&self, account: AccountId) -> Payout {
        let payout = a_payout(account);
        self.fund(account, payout.terms.gross().unwrap().centavos()).await;
        self.commit_ok(steps::open_payout(&payout)).await;
        Payout { version: 1, ..payout }
    }

    /// Returns the stored payout.
    pub async fn read_payout(&self, payout: &Payout) -> Payout {
        self.store.find_payout(payout.account, payout.id).await.unwrap().unwrap()
    }

    /// Stores the refund without moving its money. Returns the refund as stored, with version 1.
    pub async fn refund(&self, refund: Refund) -> Refund {
        let write = Write::insert(refund.clone());
        self.commit_ok(steps::write(write, refund.created_at)).await;
        Refund { version: 1, ..refund }
    }

    /// Returns the stored refund.
    pub async fn read_refund(&self, account: AccountId, id: RefundId) -> Refund {
        self.store.find_refund(account, id).await.unwrap().unwrap()
    }

    /// Stores the charge and credits a payment of exactly its amount. The part of the charge's account stays pending for `release_delay_s`
    /// seconds. Returns the charge as read back.
    pub async fn paid_charge(&self, charge: Charge, release_delay_s: u32) -> Charge {
        let charge = self.charge(charge).await;
        let payment = a_payment(charge.terms.amount.centavos());
        self.commit_ok(steps::credit_payment(&charge, payment, release_delay_s, after_s(1))).await;
        self.read_charge(&charge).await
    }

    /// Returns the stored charge.
    pub async fn read_charge(&self, charge: &Charge) -> Charge {
        self.store.find_charge(charge.account, charge.id).await.unwrap().unwrap()
    }

    /// Stores an endpoint in that slot of the account. Returns the endpoint as stored, with version 1.
    pub async fn endpoint(&self, account: AccountId, slot: u8) -> Endpoint {
        self.stored_endpoint(an_endpoint(account, slot)).await
    }

    /// Stores the endpoint. Returns the endpoint as stored, with version 1.
    pub async fn stored_endpoint(&self, endpoint: Endpoint) -> Endpoint {
        self.commit_ok(steps::open_endpoint(&endpoint)).await;
        Endpoint { version: 1, ..endpoint }
    }

    /// Moves money from the main acquirer's settlement account to the available money of the account.
    pub async fn fund(&self, account: AccountId, centavos: i64) {
        self.commit_ok(steps::transfer(income(account, centavos))).await;
    }

    /// Returns the balances of the account's buckets in centavos: available, pending, blocked, in transit.
    pub async fn balances(&self, account: AccountId) -> [i64; 4] {
        let Balances { available, pending, blocked, in_transit } = self.store.balances(account).await.unwrap();
        [available, pending, blocked, in_transit].map(Money::centavos)
    }

    /// Asserts that the ledger is consistent. Returns the number of its entries.
    pub async fn audit(&self) -> u64 {
        let report = self.store.verify_ledger().await.unwrap();
        assert_eq!(report.differences, []);
        report.entries
    }
}

/// Returns a transfer from the main acquirer's settlement account to the available money of the account.
pub(super) fn income(account: AccountId, centavos: i64) -> Transfer {
    let from = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account);
    movement(from, merchant(account, Bucket::Available), centavos, Overdraft::Allowed)
}

/// Returns a transfer from available to in transit, as at the start of a payout. The transfer requires cover.
pub(super) fn hold(account: AccountId, centavos: i64) -> Transfer {
    let from = merchant(account, Bucket::Available);
    movement(from, merchant(account, Bucket::InTransit), centavos, Overdraft::Forbidden)
}

/// Returns the error of a transfer without cover from a bucket with a balance of that many centavos.
pub(super) fn not_covered(account: AccountId, bucket: Bucket, centavos: i64) -> CommitError {
    let available = Money::from_centavos(centavos);
    CommitError::NotCovered { account: merchant(account, bucket), available }
}

/// Returns a bucket of a merchant's money.
pub(super) const fn merchant(account: AccountId, bucket: Bucket) -> LedgerAccount {
    LedgerAccount::Merchant(account, bucket)
}

/// Returns a transfer of that many centavos.
pub(super) fn movement(from: LedgerAccount, to: LedgerAccount, centavos: i64, overdraft: Overdraft) -> Transfer {
    Transfer {
        from,
        to,
        amount: Money::from_centavos(centavos),
        overdraft,
        kind: EntryKind::Charge,
        resource: None,
        end_to_end_id: None,
    }
}

/// Commits the change sets concurrently, each from its own task. Returns the outcomes in the order of the change sets.
pub(super) async fn commit_concurrently(
    store: &Arc<dyn WholeStore>,
    changes: Vec<ChangeSet>,
) -> Vec<Result<Committed, CommitError>> {
    let barrier = Arc::new(tokio::sync::Barrier::new(changes.len()));
    let tasks: Vec<_> = changes
        .into_iter()
        .map(|change| {
            let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                store.commit(change).await
            })
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

/// Returns the instant that many seconds after [`start`], the beginning of each test.
pub(super) fn after_s(seconds: i64) -> jiff::Timestamp {
    use jiff::ToSpan as _;
    start() + seconds.seconds()
}

/// Returns all rows of a list, read in pages of at most `limit`.
pub(super) async fn walk<T, I>(
    limit: u32,
    id: impl Fn(&T) -> I,
    read: impl AsyncFn(PageRequest<I>) -> Page<T>,
) -> Vec<T> {
    let mut walked = Vec::new();
    loop {
        let page = read(PageRequest { limit, starting_after: walked.last().map(&id) }).await;
        let full = page.rows.len() == usize::try_from(limit).unwrap();
        assert!(full || !page.has_more, "a page of {} with more to come, limit {limit}", page.rows.len());
        walked.extend(page.rows);
        assert!(walked.len() <= MOST_ROWS, "a list without end");
        if !page.has_more {
            return walked;
        }
    }
}

/// Returns all events of the account in the order of the filter, read in pages of at most `limit`.
pub(super) async fn walk_events(
    store: &(impl EventQueries + ?Sized),
    account: AccountId,
    filter: EventFilter,
    limit: u32,
) -> Vec<StoredEvent> {
    let read = async |page: PageRequest<EventId>| {
        let page = EventPage { limit: page.limit, starting_after: page.starting_after };
        store.list_events(account, filter, page).await.unwrap()
    };
    walk(limit, |event: &StoredEvent| event.id, read).await
}

/// Returns all deliveries to an endpoint, newest first.
pub(super) async fn walk_deliveries(
    store: &(impl DeliveryQueries + ?Sized),
    account: AccountId,
    endpoint: EndpointId,
) -> Vec<Delivery> {
    let read = async |page| store.list_deliveries(account, endpoint, page).await.unwrap();
    walk(50, |delivery: &Delivery| delivery.id, read).await
}

/// Returns the number of accepted change sets. Asserts that every refusal is as `expected`.
pub(super) fn count_accepted(
    outcomes: &[Result<Committed, CommitError>],
    expected: impl Fn(&CommitError) -> bool,
) -> usize {
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    for refused in refused {
        assert!(expected(refused), "{refused:?}");
    }
    outcomes.iter().filter(|outcome| outcome.is_ok()).count()
}

/// Returns the instant in an identifier. Stores rely on the fact that this instant differs from the creation of the record by at most a
/// minute.
pub(super) fn instant<K: IdKind>(id: Id<K>) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(i64::try_from(id.timestamp_ms()).unwrap()).unwrap()
}

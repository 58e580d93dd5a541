//! A store in memory: the snapshot of `cais_commit_rules`, and the records that the snapshot does not contain.

mod audit;
mod crypto;
mod crypto_rules;
mod deliveries;
mod endpoint_queues;
mod infraction_rules;
mod infractions;
mod logins;
mod maintenance;
mod money_out;
mod money_rules;
mod prune;
mod queries;
mod queue;
mod reconciliation;
mod state;
mod statement;
mod tables;
mod timeline;
mod usage;
mod webhooks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cais_domain::block::Block;
use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{Deposit, Quote, Withdrawal};
use cais_domain::ids::AccountId;
use cais_domain::infraction::Infraction;
use cais_domain::ledger::LedgerAccount;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{
    Callback, ChangeSet, CommitError, Committed, EndpointQueue, IdempotencyRecord, PollPosition, QueryError, RecordKey,
    Store,
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use state::State;
pub use state::{Entry, StoredEvent};

/// The point at which a commit is interrupted. In both cases the caller of the commit gets
/// `Unavailable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// No part of the commit is stored.
    Before,
    /// The whole commit is stored; only the reply was lost.
    After,
}

/// The planned failures.
#[derive(Debug, Default)]
struct PlannedFailures {
    /// The number of requested commits so far.
    commits: u64,
    /// The interruptions by the number of the commit, counted from 1.
    crashes: BTreeMap<u64, Crash>,
    /// `true` if no call gets a reply.
    unreachable: bool,
    /// The longest span that reconciliation can read; the read of a longer span fails. `None`: no limit.
    longest_span: Option<SignedDuration>,
}

/// A store in memory, with failures on request.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    failures: Mutex<PlannedFailures>,
    /// Queues with new deliveries that `hinted` has not returned yet.
    hints: Mutex<BTreeSet<EndpointQueue>>,
    hint: Notify,
}

impl MemoryStore {
    /// Interrupts the `nth` commit from now on, counted from 1.
    pub fn crash_at(&self, nth: u64, crash: Crash) {
        let mut failures = self.failures();
        let number = failures.commits.saturating_add(nth);
        failures.crashes.insert(number, crash);
    }

    /// Stops all replies, or resumes them.
    pub fn set_unreachable(&self, unreachable: bool) {
        self.failures().unreachable = unreachable;
    }

    /// Makes reconciliation's reads of a longer span fail, like a read that times out.
    pub fn set_longest_span(&self, longest: SignedDuration) {
        self.failures().longest_span = Some(longest);
    }

    /// Returns the number of requested commits.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.failures().commits
    }

    /// Returns the account's events, by sequence.
    #[must_use]
    pub fn events(&self, account: AccountId) -> Vec<StoredEvent> {
        self.state().events.get(&account).cloned().unwrap_or_default()
    }

    /// Returns every ledger entry, in the order of commit.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.state().entries.clone()
    }

    /// Returns the balance of a ledger account; zero without entries.
    #[must_use]
    pub fn balance(&self, account: &LedgerAccount) -> Money {
        self.state().balance(account)
    }

    /// Returns every charge in every state, oldest first.
    #[must_use]
    pub fn charges(&self) -> Vec<Charge> {
        oldest_first(&self.state().tables.charges, |one| one.id)
    }

    /// Returns every credited payment, by end-to-end id.
    #[must_use]
    pub fn payments(&self) -> Vec<CreditedPayment> {
        oldest_first(&self.state().tables.payments, |one| one.payment.end_to_end_id.clone())
    }

    /// Returns every payout in every state, oldest first.
    #[must_use]
    pub fn payouts(&self) -> Vec<Payout> {
        oldest_first(&self.state().tables.payouts, |one| one.id)
    }

    /// Returns every crypto withdrawal in every state, oldest first.
    #[must_use]
    pub fn crypto_withdrawals(&self) -> Vec<Withdrawal> {
        oldest_first(&self.state().tables.crypto_withdrawals, |one| one.id)
    }

    /// Returns every crypto deposit in every state, oldest first.
    #[must_use]
    pub fn crypto_deposits(&self) -> Vec<Deposit> {
        oldest_first(&self.state().tables.crypto_deposits, |one| one.id)
    }

    /// Returns every payment to a crypto deposit, in the order of their ids.
    #[must_use]
    pub fn crypto_payments(&self) -> Vec<DepositPayment> {
        oldest_first(&self.state().tables.crypto_payments, |one| one.id.clone())
    }

    /// Returns every crypto quote, oldest first.
    #[must_use]
    pub fn crypto_quotes(&self) -> Vec<Quote> {
        oldest_first(&self.state().tables.crypto_quotes, |one| one.id)
    }

    /// Returns every refund in every state, oldest first.
    #[must_use]
    pub fn refunds(&self) -> Vec<Refund> {
        oldest_first(&self.state().tables.refunds, |one| one.id)
    }

    /// Returns every release, made or not, by end-to-end id.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        oldest_first(&self.state().tables.releases, |one| one.end_to_end_id.clone())
    }

    /// Returns every callback in every state, oldest first.
    #[must_use]
    pub fn callbacks(&self) -> Vec<Callback> {
        oldest_first(&self.state().tables.callbacks, |one| one.id)
    }

    /// Returns every idempotency record, by account and key.
    #[must_use]
    pub fn idempotency_records(&self) -> Vec<IdempotencyRecord> {
        self.state().idempotency_records().cloned().collect()
    }

    /// Returns every endpoint in every state, oldest first.
    #[must_use]
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let state = self.state();
        let mut endpoints: Vec<Endpoint> =
            state.snapshot.ledger.endpoints.values().flat_map(BTreeMap::values).cloned().collect();
        endpoints.sort_unstable_by_key(|endpoint| endpoint.id);
        endpoints
    }

    /// Returns every infraction in every state, oldest first.
    #[must_use]
    pub fn infractions(&self) -> Vec<Infraction> {
        oldest_first(&self.state().tables.infractions, |one| one.id)
    }

    /// Returns the blocks, by account and infraction.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        self.state().blocks().cloned().collect()
    }

    /// Returns the positions in all lists of acquirers and processors, by the name of the acquirer or processor.
    #[must_use]
    pub fn positions(&self) -> Vec<PollPosition> {
        oldest_first(&self.state().tables.positions, |one| one.acquirer.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, PlannedFailures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hints(&self) -> MutexGuard<'_, BTreeSet<EndpointQueue>> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds queues with new deliveries, and notifies a caller that waits in `hinted`.
    fn hint(&self, queues: Vec<EndpointQueue>) {
        if !queues.is_empty() {
            self.hints().extend(queues);
            self.hint.notify_one();
        }
    }

    /// Returns the state; fails while the store is unreachable.
    fn read(&self) -> Result<MutexGuard<'_, State>, QueryError> {
        if self.failures().unreachable {
            return Err(QueryError::Unavailable("switched off by the test".to_owned()));
        }
        Ok(self.state())
    }

    /// Returns the state; fails while the store is unreachable, or if the span is too long.
    fn read_span(&self, from: Timestamp, until: Timestamp) -> Result<MutexGuard<'_, State>, QueryError> {
        if self.failures().longest_span.is_some_and(|longest| until.duration_since(from) > longest) {
            return Err(QueryError::Unavailable("the read took too long".to_owned()));
        }
        self.read()
    }

    /// Counts a commit and returns its planned interruption. While the store is unreachable, that is always `Crash::Before`.
    fn next_crash(&self) -> Option<Crash> {
        let mut failures = self.failures();
        failures.commits = failures.commits.saturating_add(1);
        let number = failures.commits;
        let planned = failures.crashes.remove(&number);
        if failures.unreachable { Some(Crash::Before) } else { planned }
    }
}

/// Returns the records of a table in the order of their ids.
fn oldest_first<T: Clone, I: Ord>(table: &BTreeMap<RecordKey, T>, id: impl Fn(&T) -> I) -> Vec<T> {
    let mut records: Vec<T> = table.values().cloned().collect();
    records.sort_by_cached_key(id);
    records
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let crash = self.next_crash();
        if crash == Some(Crash::Before) {
            return Err(CommitError::Unavailable("interrupted before".to_owned()));
        }
        let mut state = self.state();
        let (committed, queues) = state.commit(change)?;
        drop(state);
        self.hint(queues);
        if crash == Some(Crash::After) {
            return Err(CommitError::Unavailable("interrupted after".to_owned()));
        }
        Ok(committed)
    }
}

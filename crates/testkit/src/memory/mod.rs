//! A store in memory: the snapshot of `cais_commit_rules`, and the records around it.

mod audit;
mod deliveries;
mod infraction_rules;
mod infractions;
mod lanes;
mod maintenance;
mod money_out;
mod money_rules;
mod prune;
mod queries;
mod queue;
mod reconciliation;
mod state;
mod statement;
mod timeline;
mod webhooks;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cais_domain::block::Block;
use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_domain::infraction::Infraction;
use cais_domain::ledger::LedgerAccount;
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_domain::webhook::Endpoint;
use cais_ports::{ChangeSet, Claim, CommitError, Committed, Lane, Notice, PollPosition, QueryError, Store};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use state::State;
pub use state::{Entry, StoredEvent};

/// Where a commit is interrupted; either way its caller hears `Unavailable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Nothing of it became true.
    Before,
    /// All of it became true; only the answer was lost.
    After,
}

/// What goes wrong, and when.
#[derive(Debug, Default)]
struct Plan {
    /// Commits that were asked for so far.
    commits: u64,
    /// By the number of the commit, counted from 1.
    crashes: BTreeMap<u64, Crash>,
    /// Nothing answers.
    unreachable: bool,
    /// A read of a longer span takes too long.
    longest_span: Option<SignedDuration>,
}

/// A store in memory. It can be told to fail.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    plan: Mutex<Plan>,
    /// Lanes of deliveries that came into being and were not asked for yet.
    hints: Mutex<BTreeSet<Lane>>,
    hint: Notify,
}

impl MemoryStore {
    /// The `nth` commit from now on, counted from 1, is interrupted.
    pub fn crash_at(&self, nth: u64, crash: Crash) {
        let mut plan = self.plan();
        let number = plan.commits.saturating_add(nth);
        plan.crashes.insert(number, crash);
    }

    /// From now on nothing answers, or everything does again.
    pub fn set_unreachable(&self, unreachable: bool) {
        self.plan().unreachable = unreachable;
    }

    /// From now on what reconciliation reads of a longer span takes too long.
    pub fn set_longest_span(&self, longest: SignedDuration) {
        self.plan().longest_span = Some(longest);
    }

    /// How often a commit was asked for.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.plan().commits
    }

    /// The account's events, in their order.
    #[must_use]
    pub fn events(&self, account: AccountId) -> Vec<StoredEvent> {
        self.state().events.get(&account).cloned().unwrap_or_default()
    }

    /// Every ledger entry, in the order of commit.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.state().entries.clone()
    }

    /// The balance of a ledger account; zero when nothing ever moved.
    #[must_use]
    pub fn balance(&self, account: &LedgerAccount) -> Money {
        self.state().balance(account)
    }

    /// Every charge in whatever state, oldest first.
    #[must_use]
    pub fn charges(&self) -> Vec<Charge> {
        self.state().charges.values().cloned().collect()
    }

    /// Every credited payment, by end-to-end id.
    #[must_use]
    pub fn payments(&self) -> Vec<CreditedPayment> {
        self.state().payments.values().cloned().collect()
    }

    /// Every payout in whatever state, oldest first.
    #[must_use]
    pub fn payouts(&self) -> Vec<Payout> {
        self.state().payouts.values().cloned().collect()
    }

    /// Every refund in whatever state, oldest first.
    #[must_use]
    pub fn refunds(&self) -> Vec<Refund> {
        self.state().refunds.values().cloned().collect()
    }

    /// Every release, made or not, by end-to-end id.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        self.state().releases.values().cloned().collect()
    }

    /// Every notice in whatever state, oldest first.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        self.state().notices.values().cloned().collect()
    }

    /// Every idempotency claim, by account and key.
    #[must_use]
    pub fn claims(&self) -> Vec<Claim> {
        self.state().claims().cloned().collect()
    }

    /// Every endpoint in whatever state, oldest first.
    #[must_use]
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let state = self.state();
        let mut endpoints: Vec<Endpoint> =
            state.snapshot.ledger.endpoints.values().flat_map(BTreeMap::values).cloned().collect();
        endpoints.sort_unstable_by_key(|endpoint| endpoint.id);
        endpoints
    }

    /// Every infraction in whatever state, oldest first.
    #[must_use]
    pub fn infractions(&self) -> Vec<Infraction> {
        self.state().infractions.values().cloned().collect()
    }

    /// What is held for infractions, by account and infraction.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        self.state().blocks().cloned().collect()
    }

    /// How far each acquirer's list of infractions was read.
    #[must_use]
    pub fn positions(&self) -> Vec<PollPosition> {
        self.state().positions.values().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hints(&self) -> MutexGuard<'_, BTreeSet<Lane>> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whoever delivers where something came into being.
    fn hint(&self, lanes: Vec<Lane>) {
        if !lanes.is_empty() {
            self.hints().extend(lanes);
            self.hint.notify_one();
        }
    }

    /// The state, unless nothing answers just now.
    fn read(&self) -> Result<MutexGuard<'_, State>, QueryError> {
        if self.plan().unreachable {
            return Err(QueryError::Unavailable("switched off by the test".to_owned()));
        }
        Ok(self.state())
    }

    /// The state, unless nothing answers just now, or not in time for so long a span.
    fn read_span(&self, from: Timestamp, until: Timestamp) -> Result<MutexGuard<'_, State>, QueryError> {
        if self.plan().longest_span.is_some_and(|longest| until.duration_since(from) > longest) {
            return Err(QueryError::Unavailable("the read took too long".to_owned()));
        }
        self.read()
    }

    /// Counts a commit and says how it is to be interrupted.
    fn next_crash(&self) -> Option<Crash> {
        let mut plan = self.plan();
        plan.commits = plan.commits.saturating_add(1);
        let number = plan.commits;
        let planned = plan.crashes.remove(&number);
        if plan.unreachable { Some(Crash::Before) } else { planned }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        let crash = self.next_crash();
        if crash == Some(Crash::Before) {
            return Err(CommitError::Unavailable("interrupted before".to_owned()));
        }
        let mut state = self.state();
        let (committed, lanes) = state.commit(change)?;
        drop(state);
        self.hint(lanes);
        if crash == Some(Crash::After) {
            return Err(CommitError::Unavailable("interrupted after".to_owned()));
        }
        Ok(committed)
    }
}

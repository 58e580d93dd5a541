//! Creations and payments of charges at the store of Cais, by 64 callers. The commits are those of the service.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::{AccountId, ChargeId};
use cais_persistence::Persistence;
use cais_ports::{ChangeSet, ChargeQueries as _, Maintenance as _, PageRequest, Store as _};
use cais_testkit::builders::{fresh, in_status};
use futures_util::future::try_join_all;

use super::callers::{CallResults, call};
use super::changes;
use crate::numbers::{count, grouped};
use crate::window::Until;

/// The number of accounts that the creations use in turn.
const ACCOUNTS: usize = 16;
/// The number of charges in one change set of [`seed`].
const SEED_ROWS: usize = 200;
/// The number of change sets that [`seed`] commits at the same time.
const SEEDS_AT_ONCE: usize = 16;
/// The number of rows per page, where a check reads a whole list.
pub(super) const PAGE: u32 = 200;

/// The measured store, with the numbers of creations and payments that it has committed.
#[derive(Debug)]
pub struct Ours {
    store: Persistence,
    accounts: Arc<Vec<AccountId>>,
    /// The account that receives all payments.
    hot: AccountId,
    created: u64,
    confirmed: u64,
}

impl Ours {
    /// Wraps an empty store.
    #[must_use]
    pub fn new(store: Persistence) -> Self {
        let accounts = (0..ACCOUNTS).map(|_| fresh()).collect();
        Self { store, accounts: Arc::new(accounts), hot: fresh(), created: 0, confirmed: 0 }
    }

    /// Runs creations. Each creation makes both commits, one after the other.
    ///
    /// # Errors
    /// If a commit is refused.
    pub async fn create(&mut self, until: Until) -> Result<CallResults<()>> {
        let (store, accounts) = (self.store.clone(), Arc::clone(&self.accounts));
        let calls = call(until, move |number| {
            let (store, account) = (store.clone(), account(&accounts, number));
            async move {
                let charge = changes::new_charge(account?);
                commit(&store, changes::open(&charge)).await?;
                commit(&store, changes::issue(&charge)).await
            }
        })
        .await?;
        self.created = self.created.saturating_add(count(calls.returned.len()));
        Ok(calls)
    }

    /// Runs only commit 1 of creations. Returns the created charges for [`Self::issue`].
    ///
    /// # Errors
    /// If a commit is refused.
    pub async fn open(&self, until: Until) -> Result<CallResults<Charge>> {
        let (store, accounts) = (self.store.clone(), Arc::clone(&self.accounts));
        call(until, move |number| {
            let (store, account) = (store.clone(), account(&accounts, number));
            async move {
                let charge = changes::new_charge(account?);
                commit(&store, changes::open(&charge)).await?;
                Ok(charge)
            }
        })
        .await
    }

    /// Runs only commit 2 of creations, for charges from [`Self::open`].
    ///
    /// # Errors
    /// If a commit is refused.
    pub async fn issue(&mut self, opened: Vec<Charge>) -> Result<CallResults<()>> {
        let calls = each(&self.store, opened, changes::issue).await?;
        self.created = self.created.saturating_add(count(calls.returned.len()));
        Ok(calls)
    }

    /// Inserts `payments` pending charges, and returns them for [`Self::confirm`].
    ///
    /// # Errors
    /// If a commit is refused.
    pub async fn waiting(&self, payments: usize) -> Result<Vec<Charge>> {
        let waiting = |_| in_status(changes::new_charge(self.hot), ChargeStatus::Pending);
        let charges: Vec<Charge> = (0..payments).map(waiting).collect();
        seed(&self.store, &charges).await?;
        Ok(charges)
    }

    /// Credits one payment to each charge from [`Self::waiting`].
    ///
    /// # Errors
    /// If a commit is refused.
    pub async fn confirm(&mut self, waiting: Vec<Charge>) -> Result<CallResults<()>> {
        let calls = each(&self.store, waiting, changes::confirm).await?;
        self.confirmed = self.confirmed.saturating_add(count(calls.returned.len()));
        Ok(calls)
    }

    /// Rebuilds the ledger, and compares the numbers of rows with those of creations and payments. Returns both numbers
    /// in a text for the report.
    ///
    /// # Errors
    /// If the ledger or a number of rows is inconsistent.
    pub async fn verify(&self) -> Result<String> {
        let report = self.store.verify_ledger().await?;
        ensure!(report.differences.is_empty(), "the ledger does not add up: {:?}", report.differences.first());
        // A payment has two transfers, one of the net amount and one of the fee. Each transfer has two entries.
        ensure!(
            report.entries == self.confirmed.saturating_mul(4),
            "{} entries for {} payments",
            report.entries,
            self.confirmed
        );
        let events = self.store.last_sequence(self.hot).await?;
        ensure!(u64::try_from(events).ok() == Some(self.confirmed), "{events} events for {} payments", self.confirmed);
        let visible = try_join_all(self.accounts.iter().map(|account| count_charges(&self.store, *account))).await?;
        let visible: u64 = visible.into_iter().sum();
        ensure!(visible == self.created, "{visible} charges for {} creations", self.created);
        let paid = count_charges(&self.store, self.hot).await?;
        ensure!(paid == self.confirmed, "{paid} charges for {} payments", self.confirmed);
        let [created, confirmed] = [self.created, self.confirmed].map(|number| grouped(&number.to_string()));
        Ok(format!(
            "afterwards {created} creations and {confirmed} payments counted; ledger rebuilt without a difference"
        ))
    }
}

async fn each(
    store: &Persistence,
    charges: Vec<Charge>,
    change: impl Fn(&Charge) -> ChangeSet + Send + Sync + Copy + 'static,
) -> Result<CallResults<()>> {
    let store = store.clone();
    let until = Until::Calls(count(charges.len()));
    let charges = Arc::new(charges);
    call(until, move |number| {
        let (store, charges) = (store.clone(), Arc::clone(&charges));
        async move {
            let charge = usize::try_from(number).ok().and_then(|index| charges.get(index)).context("no charge left")?;
            commit(&store, change(charge)).await
        }
    })
    .await
}

/// Inserts the charges without other rows, many per commit.
///
/// # Errors
/// If a commit is refused.
pub async fn seed(store: &Persistence, charges: &[Charge]) -> Result<()> {
    for batch in charges.chunks(SEED_ROWS.saturating_mul(SEEDS_AT_ONCE)) {
        try_join_all(batch.chunks(SEED_ROWS).map(|rows| commit(store, changes::seed(rows)))).await?;
    }
    Ok(())
}

pub(super) async fn commit(store: &Persistence, change: ChangeSet) -> Result<()> {
    store.commit(change).await?;
    Ok(())
}

fn account(accounts: &[AccountId], number: u64) -> Result<AccountId> {
    let turn = usize::try_from(number)?.checked_rem(accounts.len());
    turn.and_then(|index| accounts.get(index)).copied().context("no accounts")
}

/// Returns the number of charges that the API shows for an account. Reads all pages of the list.
///
/// # Errors
/// If the store does not answer.
pub async fn count_charges(queries: &Persistence, account: AccountId) -> Result<u64> {
    let (mut found, mut starting_after): (u64, Option<ChargeId>) = (0, None);
    loop {
        let page = queries.list_charges(account, PageRequest { limit: PAGE, starting_after }).await?;
        found = found.saturating_add(count(page.rows.len()));
        starting_after = page.rows.last().map(|charge| charge.id);
        if !page.has_more {
            return Ok(found);
        }
    }
}

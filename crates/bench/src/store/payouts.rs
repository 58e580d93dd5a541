//! Measures payouts of one account by 64 callers, and checks the written rows.

use anyhow::{Result, ensure};
use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_persistence::Persistence;
use cais_ports::{BalanceQueries as _, Balances, Maintenance as _, PageRequest, PayoutQueries as _};
use cais_testkit::builders::fresh;

use super::callers::{CallResults, call};
use super::ours::{PAGE, commit};
use super::payout_changes::{AMOUNT, FEE, FUNDS, complete, fund, hold, new_payout};
use super::pgbench::Pgbench;
use super::{Series, metered, parties};
use crate::database::{Engine, MeasuredDatabase, Postgres};
use crate::numbers::{count, grouped};
use crate::report::{Line, Target};
use crate::run_size::RunSize;
use crate::window::Until;

/// The number of entries of a payout. Commit 1 and commit 2 each transfer the amount and the fee. Each of these four
/// transfers has two entries.
const ENTRIES: u64 = 8;

/// Measures payouts of one account. The store and pgbench have separate databases.
///
/// # Errors
/// If the store or pgbench fails, or the written data is inconsistent.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Line> {
    let (database, beside) = (MeasuredDatabase::fresh(engine, server)?, MeasuredDatabase::fresh(engine, server)?);
    let persistence = database.open().await?;
    let mut ours = Payouts::open(persistence.clone()).await?;
    let server = server.filter(|_| engine == Engine::Postgres);
    let mut theirs = None;
    if let Some(server) = server {
        beside.migrate().await?;
        let pgbench = Pgbench::new(server, beside.url().to_owned(), size.seconds)?;
        pgbench.fund()?;
        theirs = Some(pgbench);
    }
    let mut series = Series::default();
    for _ in 0..size.rounds {
        database.flush_writes()?;
        series.add(metered(&parties(server), ours.pay_out(Until::seconds(size.seconds))).await?);
        series.beside(theirs.as_mut().map(Pgbench::pay_out))?;
    }
    let verified = ours.verify().await?;
    theirs.as_ref().map_or(Ok(()), Pgbench::verify)?;
    persistence.close().await;
    Ok(series.line(engine, "payouts of one account, both commits", Some(Target::AtLeast(5.0))).note(verified))
}

/// The measured store, the account that pays, and the number of completed payouts.
struct Payouts {
    store: Persistence,
    hot: AccountId,
    sent: u64,
}

impl Payouts {
    /// Prepares an empty store with one funded account.
    async fn open(store: Persistence) -> Result<Self> {
        let hot = fresh();
        commit(&store, fund(hot)).await?;
        Ok(Self { store, hot, sent: 0 })
    }

    /// Runs payouts. Each payout makes both commits, one after the other.
    async fn pay_out(&mut self, until: Until) -> Result<CallResults<()>> {
        let (store, hot) = (self.store.clone(), self.hot);
        let calls = call(until, move |_| {
            let store = store.clone();
            async move {
                let payout = new_payout(hot);
                commit(&store, hold(&payout)).await?;
                commit(&store, complete(&payout)).await
            }
        })
        .await?;
        self.sent = self.sent.saturating_add(count(calls.returned.len()));
        Ok(calls)
    }

    /// Rebuilds the ledger, and compares rows and balances with the number of payouts. Returns the number in a text for
    /// the report.
    async fn verify(&self) -> Result<String> {
        let sent = self.sent;
        let report = self.store.verify_ledger().await?;
        ensure!(report.differences.is_empty(), "the ledger does not add up: {:?}", report.differences.first());
        // The transfer that funded the account has two entries.
        let expected = sent.saturating_mul(ENTRIES).saturating_add(2);
        ensure!(report.entries == expected, "{} entries for {sent} payouts", report.entries);
        let events = self.store.last_sequence(self.hot).await?;
        ensure!(u64::try_from(events).ok() == Some(sent), "{events} events for {sent} payouts");
        let spent = i64::try_from(sent)?.saturating_mul(AMOUNT.saturating_add(FEE));
        let left = Balances { available: Money::from_centavos(FUNDS.saturating_sub(spent)), ..Balances::default() };
        let found = self.store.balances(self.hot).await?;
        ensure!(found == left, "the balance is {found:?} instead of {left:?}");
        let completed = self.completed().await?;
        ensure!(completed == sent, "{completed} of {sent} payouts are completed");
        let sent = grouped(&sent.to_string());
        Ok(format!("afterwards {sent} completed payouts counted; ledger rebuilt without a difference"))
    }

    /// Returns the number of completed payouts. Reads all pages of the list.
    async fn completed(&self) -> Result<u64> {
        let (mut found, mut starting_after): (u64, Option<PayoutId>) = (0, None);
        loop {
            let page = self.store.list_payouts(self.hot, PageRequest { limit: PAGE, starting_after }).await?;
            let completed = page.rows.iter().filter(|payout| payout.state.status() == PayoutStatus::Completed);
            found = found.saturating_add(count(completed.count()));
            starting_after = page.rows.last().map(|payout| payout.id);
            if !page.has_more {
                return Ok(found);
            }
        }
    }
}

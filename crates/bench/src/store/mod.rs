//! Measures the store without the service: 64 callers commit change sets. On PostgreSQL, pgbench is the baseline: it
//! writes the same rows.

mod callers;
pub mod changes;
mod ours;
mod payout_changes;
mod payouts;
mod pgbench;

pub use ours::{count_charges, seed};

use std::future::Future;

use anyhow::Result;

use crate::database::{Engine, MeasuredDatabase, Postgres};
use crate::latency::Latencies;
use crate::numbers::Rounds;
use crate::process::{Cores, Meter, mean};
use crate::report::{Line, Target};
use crate::run_size::RunSize;
use crate::window::Until;
use callers::CallResults;
use ours::Ours;
use pgbench::Pgbench;

const LEVEL: &str = "store";
const RATE: &str = "/s";
/// The number of payments in a round is this number times [`RunSize::seconds`]. A round of payments ends after its last
/// payment, not after a time.
const PAYMENTS_PER_SECOND: u64 = 12_000;
/// The value of [`PAYMENTS_PER_SECOND`] in the short run.
const PAYMENTS_IF_QUICK: u64 = 5_000;

/// The results of one measurement, over all rounds.
#[derive(Debug, Default)]
struct Series {
    /// The rate of Cais in each round, per second.
    ours: Vec<f64>,
    /// The rate of pgbench in each round, per second. Empty without PostgreSQL.
    theirs: Vec<f64>,
    latencies: Latencies,
    /// The processor use of each process, in each round.
    busy: Vec<Vec<Cores>>,
}

impl Series {
    fn add<T>(&mut self, (calls, busy): (CallResults<T>, Vec<Cores>)) -> Vec<T> {
        self.ours.push(calls.rate());
        self.latencies.merge(calls.latencies);
        self.busy.push(busy);
        calls.returned
    }

    fn beside(&mut self, rate: Option<Result<f64>>) -> Result<()> {
        self.theirs.extend(rate.transpose()?);
        Ok(())
    }

    fn line(self, engine: Engine, what: &str, target: Option<Target>) -> Line {
        let rounds = Rounds::of(&self.ours);
        let ours = Line::of_rounds(LEVEL, engine.name(), what, rounds, RATE)
            .with_latency(self.latencies.percentiles())
            .busy(mean(&self.busy))
            .note(format!("{} rounds", rounds.number));
        if self.theirs.is_empty() {
            return ours;
        }
        let beside = ours.beside("pgbench", Rounds::of(&self.theirs));
        match target {
            Some(target) => beside.with_target(target),
            None => beside,
        }
    }
}

/// Measures creations and payments of charges, then payouts.
///
/// # Errors
/// If the store or pgbench fails, or the written data is inconsistent.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let mut lines = charges(engine, server, size).await?;
    lines.push(payouts::measure(engine, server, size).await?);
    Ok(lines)
}

async fn charges(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let (place, beside) = (MeasuredDatabase::fresh(engine, server)?, MeasuredDatabase::fresh(engine, server)?);
    let persistence = place.open().await?;
    let mut ours = Ours::new(persistence.clone());
    let server = server.filter(|_| engine == Engine::Postgres);
    let mut theirs = None;
    if let Some(server) = server {
        beside.migrate().await?;
        theirs = Some(Pgbench::new(server, beside.url().to_owned(), size.seconds)?);
    }
    let parties = parties(server);
    let mut series: [Series; 4] = Default::default();
    let [create, open, issue, confirm] = &mut series;
    let until = Until::seconds(size.seconds);
    let payments = if size.quick { PAYMENTS_IF_QUICK } else { PAYMENTS_PER_SECOND };
    let payments = usize::try_from(size.seconds.saturating_mul(payments))?;
    for _ in 0..size.rounds {
        place.flush_writes()?;
        create.add(metered(&parties, ours.create(until)).await?);
        create.beside(theirs.as_mut().map(Pgbench::create))?;
        place.flush_writes()?;
        let opened = open.add(metered(&parties, ours.open(until)).await?);
        open.beside(theirs.as_mut().map(Pgbench::open))?;
        place.flush_writes()?;
        issue.add(metered(&parties, ours.issue(opened)).await?);
        issue.beside(theirs.as_mut().map(Pgbench::issue))?;
        let waiting = ours.waiting(payments).await?;
        place.flush_writes()?;
        confirm.add(metered(&parties, ours.confirm(waiting)).await?);
        confirm.beside(theirs.as_mut().map(Pgbench::confirm))?;
    }
    let verified = ours.verify().await?;
    theirs.as_ref().map_or(Ok(()), Pgbench::verify)?;
    drop(ours);
    persistence.close().await;
    let [create, open, issue, confirm] = series;
    Ok(vec![
        create.line(engine, "creations, both commits", Some(Target::AtLeast(8.0))).note(verified),
        open.line(engine, "commit 1 of creations", None),
        issue.line(engine, "commit 2 of creations", None),
        confirm.line(engine, "payments onto one account", Some(Target::AtLeast(15.0))),
    ])
}

/// Returns the names and ids of the processes whose processor use is measured: this process, which contains the callers
/// and the store, and the PostgreSQL server, if one runs.
fn parties(server: Option<&Postgres>) -> Vec<(&'static str, u32)> {
    let mut parties = vec![("callers with the store", std::process::id())];
    parties.extend(server.map(|server| ("postgres", server.process_id())));
    parties
}

/// Runs a load. Returns its result, and the processor use of `parties` during the load.
async fn metered<T>(
    parties: &[(&'static str, u32)],
    load: impl Future<Output = Result<CallResults<T>>>,
) -> Result<(CallResults<T>, Vec<Cores>)> {
    let meter = Meter::start(parties)?;
    let calls = load.await?;
    Ok((calls, meter.stop()?))
}

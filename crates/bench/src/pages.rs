//! A page of a list costs the same however long the list is: asked of the store, first page and middle page.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::{AccountId, ChargeId};
use cais_persistence::Persistence;
use cais_ports::{ChargeQueries as _, PageRequest};
use cais_testkit::builders::{fresh, in_status};

use crate::cli::Plan;
use crate::database::{Engine, Place, Postgres};
use crate::latency::Latencies;
use crate::numbers::Rounds;
use crate::report::{Line, Target};
use crate::store::{changes, seed};

const LEVEL: &str = "pages";
/// The short list and the long one.
const SHORT: usize = 1_000;
const LONG: usize = 1_000_000;
/// The long one of the short run.
const LONG_IF_QUICK: usize = 50_000;
/// Rows of a page.
const ROWS: u32 = 50;
/// How often each page is read.
const READS: usize = 400;
/// Charges in memory while a list is made.
const AT_ONCE: usize = 20_000;

/// Two accounts of one database, one with a short list and one with a long one.
///
/// # Errors
/// When the store fails or a page is not full.
pub async fn measure(engine: Engine, server: Option<&Postgres>, plan: Plan) -> Result<Vec<Line>> {
    let place = Place::fresh(engine, server)?;
    let persistence = place.open().await?;
    let rows = if plan.quick { LONG_IF_QUICK } else { LONG };
    let mut lists = Vec::new();
    for rows in [SHORT, rows] {
        let (account, mut middle) = (fresh(), None);
        for first in (0..rows).step_by(AT_ONCE) {
            let charges: Vec<Charge> = (first..rows.min(first.saturating_add(AT_ONCE)))
                .map(|_| in_status(changes::new_charge(account), ChargeStatus::Cancelled))
                .collect();
            let inside = (rows / 2).checked_sub(first);
            middle = middle.or(inside.and_then(|inside| charges.get(inside)).map(|charge| charge.id));
            seed(&persistence, &charges).await?;
        }
        lists.push((account, middle.context("no middle")?));
    }
    // A new table has no statistics yet; one that is in use has.
    place.run("VACUUM ANALYZE charges")?;
    let mut lines = Vec::new();
    for (what, from_middle) in [("first page of 50 charges", false), ("middle page of 50 charges", true)] {
        let mut waits = [Latencies::default(), Latencies::default()];
        for _ in 0..READS {
            for ((account, middle), waits) in lists.iter().zip(&mut waits) {
                let began = Instant::now();
                page(&persistence, *account, from_middle.then_some(*middle)).await?;
                waits.record(began.elapsed());
            }
        }
        let [short, long] = waits.map(Latencies::percentiles);
        let line = Line::new(LEVEL, engine.name(), what, long.p50_ms, " ms")
            .beside("of 1,000", Rounds::of(&[short.p50_ms]))
            .wanting(Target::AtMost(1.5))
            .waited(long)
            .note(format!("of {rows} charges, median of {READS} reads each, in turn"));
        lines.push(line);
    }
    persistence.close().await;
    Ok(lines)
}

async fn page(queries: &Persistence, account: AccountId, starting_after: Option<ChargeId>) -> Result<()> {
    let page = queries.list_charges(account, PageRequest { limit: ROWS, starting_after }).await?;
    ensure!(u32::try_from(page.rows.len()).ok() == Some(ROWS) && page.has_more, "a page of {} rows", page.rows.len());
    Ok(())
}

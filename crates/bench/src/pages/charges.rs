//! Pages of the list of charges.

use anyhow::{Context as _, Result, ensure};
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::{AccountId, ChargeId};
use cais_persistence::Persistence;
use cais_ports::{ChargeQueries as _, PageRequest};
use cais_testkit::builders::{fresh, in_status};

use super::{READS, ROWS, SHORT, compare};
use crate::database::{Engine, MeasuredDatabase, Postgres};
use crate::numbers::grouped;
use crate::report::Line;
use crate::store::{changes, seed};

/// The largest number of charges in memory while a list is created.
const AT_ONCE: usize = 20_000;

/// Measures two accounts of one database, with a short and a long list.
pub(super) async fn measure(engine: Engine, server: Option<&Postgres>, long: usize) -> Result<Vec<Line>> {
    let database = MeasuredDatabase::fresh(engine, server)?;
    let persistence = database.open().await?;
    let lists = [fill(&persistence, SHORT).await?, fill(&persistence, long).await?];
    // A new table has no statistics, unlike a table in use.
    database.run("VACUUM ANALYZE charges")?;
    let mut lines = Vec::new();
    for (what, from_middle) in [("first page of 50 charges", false), ("middle page of 50 charges", true)] {
        let read = async |(account, middle): &(AccountId, ChargeId)| {
            page(&persistence, *account, from_middle.then_some(*middle)).await
        };
        let line = compare(what, engine, &lists, read).await?;
        let long = grouped(&long.to_string());
        lines.push(line.note(format!("list of {long} charges; median of {READS} reads of each list, in turn")));
    }
    persistence.close().await;
    Ok(lines)
}

/// Creates an account with charges. Returns the account and its middle charge.
async fn fill(persistence: &Persistence, rows: usize) -> Result<(AccountId, ChargeId)> {
    let (account, mut middle) = (fresh(), None);
    for first in (0..rows).step_by(AT_ONCE) {
        let charges: Vec<Charge> = (first..rows.min(first.saturating_add(AT_ONCE)))
            .map(|_| in_status(changes::new_charge(account), ChargeStatus::Cancelled))
            .collect();
        let inside = (rows / 2).checked_sub(first);
        middle = middle.or(inside.and_then(|inside| charges.get(inside)).map(|charge| charge.id));
        seed(persistence, &charges).await?;
    }
    Ok((account, middle.context("no middle")?))
}

async fn page(queries: &Persistence, account: AccountId, starting_after: Option<ChargeId>) -> Result<()> {
    let page = queries.list_charges(account, PageRequest { limit: ROWS, starting_after }).await?;
    ensure!(u32::try_from(page.rows.len()).ok() == Some(ROWS) && page.has_more, "a page of {} rows", page.rows.len());
    Ok(())
}

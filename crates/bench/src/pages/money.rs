//! Pages of the statement and of the timeline, for accounts with mixed charges, payouts and split credits.

use std::sync::Arc;

use anyhow::{Result, ensure};
use cais_domain::ids::{AccountId, EntryId};
use cais_persistence::Persistence;
use cais_ports::{
    EntryFilter, IdGenerator, Maintenance as _, Page, PageRequest, StatementQueries as _, TimelineQueries as _,
    Transaction, TransactionFilter,
};
use cais_testkit::builders::fresh;
use uuid::Uuid;

use super::{READS, ROWS, SHORT, compare};
use crate::activity::{Calendar, fill};
use crate::database::{self, Engine, MeasuredDatabase, Postgres};
use crate::numbers::grouped;
use crate::report::Line;

/// An account, and a UUID between the older and the newer half of its records.
type List = (AccountId, Uuid);

/// Measures pages of two accounts in one database, with little and with much activity.
pub(super) async fn measure(engine: Engine, server: Option<&Postgres>, long: usize) -> Result<Vec<Line>> {
    let database = MeasuredDatabase::fresh(engine, server)?;
    let calendar = Arc::new(Calendar::default());
    let ids: Arc<dyn IdGenerator> = Arc::<Calendar>::clone(&calendar);
    let persistence = database.open_with(ids).await?;
    if engine == Engine::Postgres {
        database::disable_autovacuum(server, database.url())?;
    }
    let lists = [filled(&persistence, &calendar, SHORT).await?, filled(&persistence, &calendar, long).await?];
    let mut lines = Vec::new();
    if engine == Engine::Postgres {
        lines.extend(pages(&persistence, engine, &lists, long, ", tables never analyzed").await?);
    }
    // Gathers statistics, which new tables do not have, unlike tables in use.
    database.run("VACUUM ANALYZE entries, charges, payouts, refunds")?;
    lines.extend(pages(&persistence, engine, &lists, long, "").await?);
    persistence.close().await;
    Ok(lines)
}

/// Measures the first and a middle page of both lists. In the report, `state` follows the name of each page.
async fn pages(
    persistence: &Persistence,
    engine: Engine,
    lists: &[List; 2],
    long: usize,
    state: &str,
) -> Result<Vec<Line>> {
    let (mut lines, long) = (Vec::new(), grouped(&long.to_string()));
    for (which, from_middle) in [("first", false), ("middle", true)] {
        let read =
            async |(account, middle): &List| statement(persistence, *account, from_middle.then_some(*middle)).await;
        let line = compare(&format!("{which} page of 50 lines of the statement{state}"), engine, lists, read).await?;
        lines.push(line.note(format!("statement of {long} lines; median of {READS} reads of each list, in turn")));
    }
    for (which, from_middle) in [("first", false), ("middle", true)] {
        let read =
            async |(account, middle): &List| timeline(persistence, *account, from_middle.then_some(*middle)).await;
        let line = compare(&format!("{which} page of 50 rows of the timeline{state}"), engine, lists, read).await?;
        let note = format!(
            "timeline of {long} charges, payouts and split credits; median of {READS} reads of each list, in turn"
        );
        lines.push(line.note(note));
    }
    Ok(lines)
}

async fn filled(persistence: &Persistence, calendar: &Calendar, rows: usize) -> Result<List> {
    let account = fresh();
    let middle = fill(persistence, calendar, account, rows).await?;
    if rows == SHORT {
        // A check of a thousand rows suffices, because all rows are created alike.
        let report = persistence.verify_ledger().await?;
        ensure!(report.differences.is_empty(), "the ledger does not add up: {:?}", report.differences.first());
    }
    Ok((account, middle))
}

async fn statement(queries: &Persistence, account: AccountId, after: Option<Uuid>) -> Result<()> {
    let request = PageRequest { limit: ROWS, starting_after: after.map(EntryId::new) };
    let page = queries.list_entries(account, EntryFilter::default(), request).await?;
    let described = page.rows.iter().filter(|row| row.description.is_some()).count();
    ensure!(described > 0, "no line of the statement has a description");
    full(&page)
}

async fn timeline(queries: &Persistence, account: AccountId, after: Option<Uuid>) -> Result<()> {
    let request = PageRequest { limit: ROWS, starting_after: after };
    let page = queries.list_transactions(account, TransactionFilter::default(), request).await?;
    let has = |kind: fn(&Transaction) -> bool| page.rows.iter().any(kind);
    let mixed = has(|row| matches!(row, Transaction::Charge(_)))
        && has(|row| matches!(row, Transaction::Payout(_)))
        && has(|row| matches!(row, Transaction::SplitCredit(_)));
    ensure!(mixed, "charges, payouts and split credits are not mixed");
    full(&page)
}

fn full<T>(page: &Page<T>) -> Result<()> {
    ensure!(u32::try_from(page.rows.len()).ok() == Some(ROWS) && page.has_more, "a page of {} rows", page.rows.len());
    Ok(())
}

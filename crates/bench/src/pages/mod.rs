//! Measures the first page and a middle page of lists, read from the store. A page of a long list should take as long
//! as a page of a short list.

mod charges;
mod money;

use std::time::Instant;

use anyhow::Result;

use crate::database::{Engine, Postgres};
use crate::latency::Latencies;
use crate::numbers::Rounds;
use crate::report::{Line, Target};
use crate::run_size::RunSize;

const LEVEL: &str = "pages";
/// The rows of the short list and of the long list.
const SHORT: usize = 1_000;
const LONG: usize = 1_000_000;
/// The rows of the long list with `--quick`.
const LONG_IF_QUICK: usize = 50_000;
/// Rows of a page.
const ROWS: u32 = 50;
/// The number of reads of each page.
const READS: usize = 400;

/// Measures the pages of the list of charges, of the statement and of the timeline.
///
/// # Errors
/// If the store fails or a page is wrong.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let long = if size.quick { LONG_IF_QUICK } else { LONG };
    let mut lines = charges::measure(engine, server, long).await?;
    lines.extend(money::measure(engine, server, long).await?);
    Ok(lines)
}

/// Reads a page of the short and a page of the long list in turn. Returns the line that compares both.
async fn compare<L>(what: &str, engine: Engine, lists: &[L; 2], read: impl AsyncFn(&L) -> Result<()>) -> Result<Line> {
    let mut waits = [Latencies::default(), Latencies::default()];
    for _ in 0..READS {
        for (list, waits) in lists.iter().zip(&mut waits) {
            let began = Instant::now();
            read(list).await?;
            waits.record(began.elapsed());
        }
    }
    let [short, long] = waits.map(Latencies::percentiles);
    Ok(Line::new(LEVEL, engine.name(), what, long.p50_ms, " ms")
        .beside("list of 1,000 rows:", Rounds::of(&[short.p50_ms]))
        .with_target(Target::AtMost(1.5))
        .with_latency(long))
}

//! Webhooks: deliveries sent per second, deliveries claimed per second, the effect of a backlog on the API, and
//! latency. A claim leases due deliveries for their attempts.

mod backlog;
mod endpoints;
mod preload;
mod queue;
mod rate;
mod tally;
mod waits;

use anyhow::Result;

use crate::database::{Engine, Postgres};
use crate::latency::{Latencies, Percentiles};
use crate::report::{Line, Target};
use crate::run_size::RunSize;

const LEVEL: &str = "deliveries";
const RATE: &str = "/s";
/// The number of endpoints in measurements with many endpoints.
const MANY: usize = 100;

/// The sizes of the measurements.
#[derive(Debug, Clone, Copy)]
struct Amounts {
    /// The number of events whose deliveries are due when the service starts.
    events: usize,
    /// The number of deliveries claimed per round.
    claims: usize,
    /// The number of due deliveries of the service whose API is measured.
    backlog: usize,
    /// The number of payments that are made one after another.
    payments: usize,
    /// The seconds of a round of payments at a steady rate.
    steady_s: u64,
}

const FULL: Amounts = Amounts { events: 50_000, claims: 50_000, backlog: 1_000_000, payments: 300, steady_s: 30 };
const QUICK: Amounts = Amounts { events: 10_000, claims: 20_000, backlog: 100_000, payments: 100, steady_s: 10 };

/// Runs all measurements.
///
/// # Errors
/// If the service, the store or a receiver fails, or the delivered data is inconsistent.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let amounts = if size.quick { QUICK } else { FULL };
    let mut lines = Vec::new();
    for endpoints in [1, 10, MANY] {
        lines.push(rate::measure(engine, server, endpoints, amounts.events).await?);
    }
    lines.extend(queue::measure(engine, server, size, amounts.claims).await?);
    lines.push(backlog::measure(engine, server, size, amounts.backlog).await?);
    lines.push(waits::idle(engine, server, amounts.payments).await?);
    lines.push(waits::among_hanging(engine, server, amounts.steady_s).await?);
    Ok(lines)
}

/// Adds the target to the line of PostgreSQL. Returns the line of SQLite unchanged, because it has no target.
fn with_postgres_target(line: Line, engine: Engine, target: Target) -> Line {
    match engine {
        Engine::Postgres => line.with_target(target),
        Engine::Sqlite => line,
    }
}

/// Returns the measured processes: the given ones with their names and, when PostgreSQL is measured, its server.
fn parties<'a>(
    ours: impl IntoIterator<Item = (&'a str, u32)>,
    engine: Engine,
    server: Option<&Postgres>,
) -> Vec<(&'a str, u32)> {
    let server = server.filter(|_| engine == Engine::Postgres);
    ours.into_iter().chain(server.map(|server| ("postgres", server.process_id()))).collect()
}

/// Returns the percentiles of waits that are given in microseconds.
fn percentiles(waits_us: impl IntoIterator<Item = u32>) -> Percentiles {
    let mut waits = Latencies::default();
    waits_us.into_iter().for_each(|wait| waits.record(std::time::Duration::from_micros(u64::from(wait))));
    waits.percentiles()
}

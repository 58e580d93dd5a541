//! Webhooks: how many are delivered, how many the queue hands out, what a backlog does to the API, and how soon one arrives.

mod backlog;
mod endpoints;
mod preload;
mod queue;
mod rate;
mod tally;
mod waits;

use anyhow::Result;

use crate::cli::Plan;
use crate::database::{Engine, Postgres};
use crate::latency::{Latencies, Percentiles};
use crate::report::{Line, Target};

const LEVEL: &str = "deliveries";
const RATE: &str = "/s";
/// Endpoints of what is measured with many.
const MANY: usize = 100;

/// How much of each is done.
#[derive(Debug, Clone, Copy)]
struct Amounts {
    /// Events that wait when the service starts.
    events: usize,
    /// Deliveries that each round claims.
    claims: usize,
    /// Deliveries that are due while the API is called.
    backlog: usize,
    /// Payments, one by one.
    payments: usize,
    /// Seconds of payments at a steady rate.
    steady_s: u64,
}

const FULL: Amounts = Amounts { events: 50_000, claims: 50_000, backlog: 1_000_000, payments: 300, steady_s: 30 };
const QUICK: Amounts = Amounts { events: 10_000, claims: 20_000, backlog: 100_000, payments: 100, steady_s: 10 };

/// All of it.
///
/// # Errors
/// When the service, the store or a receiver fails, or what was delivered does not add up.
pub async fn measure(engine: Engine, server: Option<&Postgres>, plan: Plan) -> Result<Vec<Line>> {
    let amounts = if plan.quick { QUICK } else { FULL };
    let mut lines = Vec::new();
    for endpoints in [1, 10, MANY] {
        lines.push(rate::measure(engine, server, endpoints, amounts.events).await?);
    }
    lines.extend(queue::measure(engine, server, plan, amounts.claims).await?);
    lines.push(backlog::measure(engine, server, plan, amounts.backlog).await?);
    lines.push(waits::idle(engine, server, amounts.payments).await?);
    lines.push(waits::among_hanging(engine, server, amounts.steady_s).await?);
    Ok(lines)
}

/// With what was wanted, where it is judged: on PostgreSQL.
fn judged(line: Line, engine: Engine, target: Target) -> Line {
    match engine {
        Engine::Postgres => line.wanting(target),
        Engine::Sqlite => line,
    }
}

/// The processes whose work is told of: one of ours, by its name, and the server where there is one.
fn parties<'a>(
    ours: impl IntoIterator<Item = (&'a str, u32)>,
    engine: Engine,
    server: Option<&Postgres>,
) -> Vec<(&'a str, u32)> {
    let server = server.filter(|_| engine == Engine::Postgres);
    ours.into_iter().chain(server.map(|server| ("postgres", server.process_id()))).collect()
}

/// The percentiles of waits in microseconds.
fn percentiles(waits_us: impl IntoIterator<Item = u32>) -> Percentiles {
    let mut waits = Latencies::default();
    waits_us.into_iter().for_each(|wait| waits.record(std::time::Duration::from_micros(u64::from(wait))));
    waits.percentiles()
}

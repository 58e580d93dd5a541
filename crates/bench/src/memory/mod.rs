//! The service's time to start, and its memory: when idle, after work, and while a long file is sent.

mod csv;

use std::time::Duration;

use anyhow::Result;

use crate::database::{Engine, Postgres};
use crate::http::Load;
use crate::numbers::{Rounds, median};
use crate::process::resident_mib;
use crate::report::{Line, Target};
use crate::requests::creators;
use crate::run_size::RunSize;
use crate::service::Service;
use crate::window::Until;

const LEVEL: &str = "memory";
/// The charges created between two memory samples.
const CHARGES: u64 = 20_000;
/// The number of starts with an empty database, and again with data.
const STARTS: usize = 7;
/// The time after a start until the service counts as idle.
const IDLE: Duration = Duration::from_secs(2);

/// Measures starts with an empty database, memory, starts with data, and a long file.
///
/// # Errors
/// If the service fails, or a request is not answered as expected.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let mut service = Service::start(engine, server).await?;
    let starts = if size.quick { 3 } else { STARTS };
    let empty = restarts(&mut service, starts).await?;
    tokio::time::sleep(IDLE).await;
    let idle = resident_mib(service.process_id()?)?;
    let scripts = creators(&service.keys, 0);
    Load { address: service.address()?, scripts, until: Until::Calls(CHARGES) }.run().await?.clean()?;
    let worked = resident_mib(service.process_id()?)?;
    let full = restarts(&mut service, starts).await?;
    service.stop_and_verify()?;
    let line = |what: &str, value, unit| Line::new(LEVEL, engine.name(), what, value, unit);
    let start = |what: &str, starts: Vec<f64>| {
        let Rounds { low, high, number, .. } = Rounds::of(&starts);
        let line = line(what, median(starts), " ms").note(format!("median of {number} starts"));
        Line { spread: Some((low, high)), ..line }
    };
    let mut lines = vec![
        start("time from start until ready, migrated database", empty).with_target(Target::AtMost(300.0)),
        start("time from start until ready, 20,000 charges in the sandbox", full),
        line("memory when idle, with the sandbox", idle, " MiB").with_target(Target::AtMost(60.0)),
        line("memory after 20,000 charges from 64 callers", worked, " MiB").with_target(Target::AtMost(200.0)),
    ];
    lines.extend(csv::measure(engine, server, size).await?);
    Ok(lines)
}

/// Restarts the service. Returns the duration of each start, in milliseconds.
async fn restarts(service: &mut Service, times: usize) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(service.restart().await?.as_secs_f64() * 1_000.0);
    }
    Ok(took)
}

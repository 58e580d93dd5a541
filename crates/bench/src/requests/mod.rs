//! The whole service over HTTP: creations and payments of charges, and reads compared with a minimal handler.

mod create;
pub mod pay;
mod read;

pub use create::{Create, Created, creators, creators_of};

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use cais_domain::merchant::account::Account;
use cais_ports::{AccountQueries as _, PageRequest};

use crate::bare;
use crate::database::{self, Engine, Postgres};
use crate::http::{Connection, Load, Outcome, Script, get};
use crate::latency::Latencies;
use crate::numbers::{Rounds, count, grouped};
use crate::process::{Cores, Meter, mean};
use crate::report::{Line, Target};
use crate::run_size::RunSize;
use crate::service::Service;
use crate::store::count_charges;
use crate::window::Until;

const LEVEL: &str = "http";
const RATE: &str = "/s";
/// The required creations per second: the mean rate of all Pix in Brazil on the record day (2025-12-05, 313.3 million).
const ALL_OF_PIX: f64 = 3_626.0;
/// The number of paid charges that are read in turn. With many charges, no charge is read often.
const PAID: usize = 10_000;
/// The number of paid charges in the short run.
const PAID_IF_QUICK: usize = 3_000;
/// The worker threads of the bare handler: as many as the service has by default.
const WORKERS: usize = 2;

/// Measures creations, then payments, then reads.
///
/// # Errors
/// If an answer is wrong, or differs from the stored data.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let mut service = Service::start(engine, server).await?;
    let address = service.address()?;
    let mut parties = vec![("service", service.process_id()?), ("generator", std::process::id())];
    if let (Engine::Postgres, Some(server)) = (engine, server) {
        parties.push(("postgres", server.process_id()));
    }
    let mut created = Vec::new();
    let mut creations = Series::default();
    for round in 0..size.rounds {
        let load =
            Load { address, scripts: creators(&service.keys, count(round)), until: Until::seconds(size.seconds) };
        let scripts = creations.add(metered(&parties, load).await?);
        created.extend(scripts.into_iter().flat_map(|script: Create| script.created));
    }
    let paid_charges = if size.quick { PAID_IF_QUICK } else { PAID };
    if let Some(missing) = paid_charges.checked_sub(created.len()).filter(|missing| *missing > 0) {
        let scripts = creators(&service.keys, count(size.rounds));
        let outcome = Load { address, scripts, until: Until::Calls(count(missing)) }.run().await?.clean()?;
        created.extend(outcome.scripts.into_iter().flat_map(|script| script.created));
    }
    let paid: Vec<_> = created.iter().take(paid_charges).cloned().collect();
    let paid = Arc::new(paid);
    let paying = Load { address, scripts: pay::payers(&paid), until: Until::Calls(count(paid.len())) };
    let (paying, pay_busy) = metered(&parties, paying).await?;

    let bytes = body_bytes(&service, &paid).await?;
    let (handler, bare_address) = bare::start(WORKERS, bytes)?;
    let readers = read::readers(&paid);
    let (mut reads, mut bare) = (Series::default(), Series::default());
    let bare_parties = [("bare handler", handler.id()), ("generator", std::process::id())];
    for _ in 0..size.rounds {
        let until = Until::seconds(size.seconds);
        reads.add(metered(&parties, Load { address, scripts: readers.clone(), until }).await?);
        let load = Load { address: bare_address, scripts: readers.clone(), until };
        bare.add(metered(&bare_parties, load).await?);
    }
    drop(handler);
    service.stop_and_verify()?;
    let stored = stored(&service.database).await?;
    ensure!(stored == count(created.len()), "{stored} charges are stored of {} answered with 201", created.len());
    let creations = creations
        .line(engine, "POST /v1/charges, 64 connections")
        .note(format!("all {} answers were 201, and their charges are stored", grouped(&stored.to_string())));
    Ok(vec![
        match engine {
            Engine::Postgres => creations.with_target(Target::AtLeast(ALL_OF_PIX)),
            Engine::Sqlite => creations,
        },
        paying_line(engine, paying, pay_busy),
        reads
            .line(engine, "GET /v1/charges/{id}, 64 connections")
            .beside("bare handler", Rounds::of(&bare.rates))
            .with_target(Target::AtLeast(0.4))
            .note(format!("{} paid charges in turn, {bytes} bytes each", grouped(&paid_charges.to_string())))
            .note(format!("cores busy in the rounds of the bare handler: {}", busy_text(&mean(&bare.busy)))),
    ])
}

/// The results of a kind of request, over all rounds.
#[derive(Debug, Default)]
struct Series {
    rates: Vec<f64>,
    latencies: Latencies,
    busy: Vec<Vec<Cores>>,
}

impl Series {
    fn add<S>(&mut self, (outcome, busy): (Outcome<S>, Vec<Cores>)) -> Vec<S> {
        self.rates.push(outcome.rate());
        self.latencies.merge(outcome.latencies);
        self.busy.push(busy);
        outcome.scripts
    }

    fn line(self, engine: Engine, what: &str) -> Line {
        let rounds = Rounds::of(&self.rates);
        Line::of_rounds(LEVEL, engine.name(), what, rounds, RATE)
            .with_latency(self.latencies.percentiles())
            .busy(mean(&self.busy))
            .note(format!("{} rounds", rounds.number))
    }
}

fn paying_line<S>(engine: Engine, paying: Outcome<S>, busy: Vec<Cores>) -> Line {
    let rate = paying.rate();
    let what = "POST /v1/sandbox/charges/{id}/pay, until the credit";
    Line::new(LEVEL, engine.name(), what, rate, RATE).with_latency(paying.latencies.percentiles()).busy(busy)
}

/// Returns the processor use as a text.
pub fn busy_text(busy: &[Cores]) -> String {
    busy.iter().map(|busy| format!("{} {:.2}", busy.who, busy.cores)).collect::<Vec<_>>().join(", ")
}

async fn metered<S: Script>(parties: &[(&'static str, u32)], load: Load<S>) -> Result<(Outcome<S>, Vec<Cores>)> {
    let meter = Meter::start(parties)?;
    let outcome = load.run().await?.clean()?;
    Ok((outcome, meter.stop()?))
}

/// Returns the length of the service's response body for a charge, in bytes.
async fn body_bytes(service: &Service, paid: &[Created]) -> Result<usize> {
    let first = paid.first().context("no charge was created")?;
    let mut connection = Connection::open(service.address()?).await?;
    let answer = connection.ask(&get(&first.path(), &first.key)).await?;
    ensure!(answer.status == 200, "{}", String::from_utf8_lossy(answer.body));
    Ok(answer.body.len())
}

/// Returns the number of charges that the API shows, over all accounts of a database.
///
/// # Errors
/// If the store does not answer.
pub async fn stored(url: &str) -> Result<u64> {
    let persistence = database::open(url).await?;
    let accounts = persistence.list_accounts(None, PageRequest { limit: 200, starting_after: None }).await?;
    let mut stored = 0_u64;
    for Account { id, .. } in accounts.rows {
        stored = stored.saturating_add(count_charges(&persistence, id).await?);
    }
    persistence.close().await;
    Ok(stored)
}

//! The creation of charges while many deliveries are due and all receivers hang, compared with a service that has no
//! due deliveries.

use std::time::Duration;

use anyhow::{Result, ensure};
use cais_domain::event::EventType;
use cais_ports::DeliveryQueue as _;

use super::endpoints::register;
use super::{LEVEL, MANY, RATE, parties, preload, with_postgres_target};
use crate::clock;
use crate::database::{self, Engine, Postgres};
use crate::http::Load;
use crate::latency::Latencies;
use crate::numbers::{Rounds, count, grouped};
use crate::process::{Cores, Meter, mean};
use crate::receiver::Receiver;
use crate::report::{Line, Target};
use crate::requests::{busy_text, creators, stored};
use crate::run_size::RunSize;
use crate::service::Service;
use crate::window::Until;

/// The required ratio of the rate with a backlog to the rate without one.
const REQUIRED_RATIO: f64 = 0.8;
/// The factor on the usual number of rounds. More rounds are needed, because the database server's own housekeeping
/// affects single rounds.
const ROUNDS_FACTOR: usize = 2;
/// The pause before the first round. An attempt may take 15 s, so the first attempts have timed out before the round.
const PAUSE_BEFORE_ROUNDS: Duration = Duration::from_secs(17);
/// The duration of the measurement without API requests.
const IDLE_TIME: Duration = Duration::from_secs(2);

/// Measures the creation of charges at a service that has many due deliveries. The reference is a second service
/// without due deliveries.
pub(super) async fn measure(
    engine: Engine,
    server: Option<&Postgres>,
    size: RunSize,
    deliveries: usize,
) -> Result<Line> {
    let mut receiver = Receiver::start(MANY)?;
    receiver.hang(MANY)?;
    let (mut calm, mut loaded) = (Service::start(engine, server).await?, Service::start(engine, server).await?);
    for service in [&calm, &loaded] {
        register(service, &mut receiver, |_| "*").await?;
    }
    loaded.stop()?;
    fill(&loaded, deliveries).await?;
    database::analyze_and_flush(engine, server, &loaded.database)?;
    loaded.launch().await?;
    tokio::time::sleep(PAUSE_BEFORE_ROUNDS).await;
    let busy_alone = busy_without_requests(&loaded, engine, server).await?;

    let (mut with, mut without) = (Series::default(), Series::default());
    for round in 0..size.rounds.saturating_mul(ROUNDS_FACTOR) {
        let mut turns = [(&calm, &mut without), (&loaded, &mut with)];
        // The order alternates, because the first round of a pair can slow the second one.
        if round % 2 == 1 {
            turns.reverse();
        }
        for (service, series) in turns {
            series.add(service, engine, server, size, round).await?;
        }
    }
    let hung = receiver.progress()?.hung;
    ensure!(hung >= count(MANY), "only {hung} attempts hung");
    for (service, series) in [(&mut calm, &without), (&mut loaded, &with)] {
        service.kill_and_verify()?;
        let found = stored(&service.database).await?;
        ensure!(found == series.created, "{found} charges are stored of {} answered with 201", series.created);
    }
    still_due(&loaded, deliveries).await?;
    let line = Line::of_rounds(
        LEVEL,
        engine.name(),
        &format!("POST /v1/charges with {} webhooks due", grouped(&deliveries.to_string())),
        Rounds::of(&with.rates),
        RATE,
    )
    .beside("none due:", Rounds::of(&without.rates))
    .with_latency(with.latencies.percentiles())
    .busy(mean(&with.busy))
    .note(format!("{hung} attempts at {MANY} endpoints that accept connections and never answer"))
    .note(format!("cores busy without callers: {}", busy_text(&busy_alone)))
    .note(format!("cores busy in the rounds without a backlog: {}", busy_text(&mean(&without.busy))))
    .note(format!(
        "all {} answers were 201, and their charges are stored",
        grouped(&with.created.saturating_add(without.created).to_string())
    ));
    Ok(with_postgres_target(line, engine, Target::AtLeast(REQUIRED_RATIO)))
}

/// The results of one service, over all rounds.
#[derive(Debug, Default)]
struct Series {
    rates: Vec<f64>,
    latencies: Latencies,
    busy: Vec<Vec<Cores>>,
    created: u64,
}

impl Series {
    async fn add(
        &mut self,
        service: &Service,
        engine: Engine,
        server: Option<&Postgres>,
        size: RunSize,
        round: usize,
    ) -> Result<()> {
        let scripts = creators(&service.keys, count(round));
        let load = Load { address: service.address()?, scripts, until: Until::seconds(size.seconds) };
        let ours = [("service", service.process_id()?), ("generator", std::process::id())];
        let meter = Meter::start(&parties(ours, engine, server))?;
        let outcome = load.run().await?.clean()?;
        self.busy.push(meter.stop()?);
        self.rates.push(outcome.rate());
        self.created = self.created.saturating_add(outcome.answered);
        self.latencies.merge(outcome.latencies);
        Ok(())
    }
}

/// Adds events of all accounts. Each event has a delivery to every endpoint of its account.
async fn fill(service: &Service, deliveries: usize) -> Result<()> {
    let store = database::open(&service.database).await?;
    let accounts = preload::accounts(&store, service.keys.len()).await?;
    // Each account gets `each` events, so every endpoint gets `each` deliveries.
    let each = deliveries.div_ceil(MANY);
    let pairs: Vec<_> = accounts.iter().map(|account| (*account, EventType::ChargePaid)).collect();
    preload::events(&store, &pairs, each.saturating_mul(accounts.len())).await?;
    store.close().await;
    Ok(())
}

/// Returns the processor use without API requests.
async fn busy_without_requests(service: &Service, engine: Engine, server: Option<&Postgres>) -> Result<Vec<Cores>> {
    let meter = Meter::start(&parties([("service", service.process_id()?)], engine, server))?;
    tokio::time::sleep(IDLE_TIME).await;
    meter.stop()
}

/// Checks that every endpoint still has due deliveries.
async fn still_due(service: &Service, deliveries: usize) -> Result<()> {
    let store = database::open(&service.database).await?;
    let found = store.due_queues(clock::now(), None, 1_024).await?;
    store.close().await;
    let queues = found.due.len();
    ensure!(
        queues == MANY && found.backlog > 0,
        "{queues} of {MANY} endpoints have due deliveries; {} of {deliveries} deliveries are due",
        found.backlog
    );
    Ok(())
}

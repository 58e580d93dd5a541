//! The deliveries per second of the whole service, with all deliveries due at its start.

use std::time::Duration;

use anyhow::{Result, ensure};
use cais_domain::event::EventType;
use cais_domain::ids::AccountId;

use super::endpoints::{distinct_subscriptions, register};
use super::tally::Tally;
use super::{LEVEL, RATE, parties, preload, with_postgres_target};
use crate::database::{self, Engine, Postgres};
use crate::numbers::{count, grouped, per_second};
use crate::process::Meter;
use crate::receiver::Receiver;
use crate::report::{Line, Target};
use crate::service::Service;

/// The required deliveries per second: more than the highest published figure found for a webhook service, 1,812 per
/// second on four processors.
const REQUIRED_RATE: f64 = 2_000.0;

/// Measures the delivery of events, each to one endpoint.
pub(super) async fn measure(
    engine: Engine,
    server: Option<&Postgres>,
    endpoints: usize,
    events: usize,
) -> Result<Line> {
    let mut receiver = Receiver::start(endpoints)?;
    let mut service = Service::start(engine, server).await?;
    let accounts = service.keys.len();
    let places = distinct_subscriptions(endpoints, accounts)?;
    let kind = |place: usize| places.get(place).map_or("*", |(_, kind)| kind.as_str());
    register(&service, &mut receiver, kind).await?;
    service.stop()?;
    fill(&service.database, accounts, &places, events).await?;
    database::analyze_and_flush(engine, server, &service.database)?;

    service.launch().await?;
    let ours = [("service", service.process_id()?), ("receivers", receiver.process_id())];
    receiver.wait_for_first().await?;
    let meter = Meter::start(&parties(ours, engine, server))?;
    let progress = receiver.wait_for(count(events)).await?;
    let busy = meter.stop()?;
    service.stop_and_verify()?;
    let tally = Tally::of_database(&service.database, accounts).await?;
    ensure!(tally.succeeded == count(events) && tally.others == 0, "not all {events} deliveries succeeded: {tally:?}");
    ensure!(
        tally.attempts >= progress.arrived,
        "fewer attempts are recorded than the {} received: {tally:?}",
        progress.arrived
    );

    let elapsed_us = u64::try_from(progress.last_at_us.saturating_sub(progress.first_at_us))?;
    let rate = per_second(count(events), Duration::from_micros(elapsed_us));
    let what = match endpoints {
        1 => "webhooks to 1 endpoint".to_owned(),
        many => format!("webhooks to {many} endpoints"),
    };
    let line = Line::new(LEVEL, engine.name(), &what, rate, RATE).busy(busy).note(format!(
        "all {} arrived with a valid signature and are `succeeded`; {} attempts recorded, {} received",
        grouped(&events.to_string()),
        grouped(&tally.attempts.to_string()),
        grouped(&progress.arrived.to_string())
    ));
    Ok(with_postgres_target(line, engine, Target::AtLeast(REQUIRED_RATE)))
}

/// Adds the events, each for one endpoint.
async fn fill(url: &str, accounts: usize, places: &[(usize, EventType)], events: usize) -> Result<()> {
    let store = database::open(url).await?;
    let accounts = preload::accounts(&store, accounts).await?;
    let pairs = places.iter().filter_map(|(account, kind)| Some((*accounts.get(*account)?, *kind)));
    let pairs: Vec<(AccountId, EventType)> = pairs.collect();
    preload::events(&store, &pairs, events).await?;
    store.close().await;
    Ok(())
}

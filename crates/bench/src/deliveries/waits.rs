//! The latency of webhooks: without other load, and while some receivers hang.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use tokio::time::{MissedTickBehavior, interval_at};

use super::endpoints::register;
use super::tally::Tally;
use super::{LEVEL, MANY, percentiles, with_postgres_target};
use crate::database::{Engine, Postgres};
use crate::http::{Connection, Load};
use crate::numbers::{Rounds, count, grouped};
use crate::receiver::{ReceivedWebhooks, Receiver};
use crate::report::{Line, Target};
use crate::requests::{Created, creators, pay};
use crate::service::Service;
use crate::window::Until;

/// The largest permitted latency of a webhook while the service is idle, in milliseconds.
const MAX_IDLE_MS: f64 = 100.0;
/// The largest permitted ratio of the latency with hanging receivers to the latency without.
const MAX_RATIO: f64 = 2.0;
/// The pause after each payment, so that payments do not overlap.
const PAUSE: Duration = Duration::from_millis(20);
/// The number of hanging endpoints.
const HANGING: usize = 10;
/// The steady rate of payments per second, and the number of connections that make them.
const STEADY_PER_SECOND: u64 = 40;
const PAYERS: usize = 8;
/// The seconds of uncounted payments before the rounds, in which the service classifies the endpoints.
const WARM_UP_S: u64 = 3;

/// Measures the latency of webhooks to one endpoint. Payments are made one after another.
pub(super) async fn idle(engine: Engine, server: Option<&Postgres>, payments: usize) -> Result<Line> {
    let mut receiver = Receiver::start(1)?;
    let mut service = Service::start(engine, server).await?;
    register(&service, &mut receiver, |_| "*").await?;
    let charges = charges(&service, 1, payments).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut connection = Connection::open(service.address()?).await?;
    for charge in &charges {
        pay::check_answer(connection.ask(&pay::request(charge)).await?)?;
        tokio::time::sleep(PAUSE).await;
    }
    receiver.wait_for(count(payments)).await?;
    let waits = percentiles(receiver.take()?.waits_us.concat());
    service.stop_and_verify()?;
    let tally = Tally::of_database(&service.database, 1).await?;
    ensure!(
        tally == Tally { succeeded: count(payments), others: 0, attempts: count(payments) },
        "not all {payments} deliveries succeeded at the first attempt: {tally:?}"
    );
    let line = Line::new(LEVEL, engine.name(), "webhook latency without other load, p99", waits.p99_ms, " ms")
        .with_latency(waits)
        .note(format!(
            "{payments} payments one by one; measured from the instant in the event, which is set before the commit"
        ));
    Ok(with_postgres_target(line, engine, Target::AtMost(MAX_IDLE_MS)))
}

/// Measures the latency of webhooks to 100 endpoints. Payments are made at a steady rate. First all endpoints answer;
/// then `HANGING` of them hang.
pub(super) async fn among_hanging(engine: Engine, server: Option<&Postgres>, seconds: u64) -> Result<Line> {
    let mut receiver = Receiver::start(MANY)?;
    let mut service = Service::start(engine, server).await?;
    register(&service, &mut receiver, |_| "*").await?;
    let (warm_up, round) = (WARM_UP_S.saturating_mul(STEADY_PER_SECOND), seconds.saturating_mul(STEADY_PER_SECOND));
    let (warm_up, round) = (usize::try_from(warm_up)?, usize::try_from(round)?);
    let accounts = service.keys.len();
    let charges = charges(&service, accounts, warm_up.saturating_add(round).saturating_add(round)).await?;
    let (first, rest) = charges.split_at(warm_up);
    let (second, third) = rest.split_at(round);
    steady(&service, &mut receiver, first, 0).await?;
    let calm = steady(&service, &mut receiver, second, 0).await?;
    receiver.hang(HANGING)?;
    let hanging = steady(&service, &mut receiver, third, HANGING).await?;
    ensure!(hanging.progress.hung >= count(HANGING), "only {} attempts hung", hanging.progress.hung);
    service.kill_and_verify()?;
    let (calm, waits) = (percentiles(calm.waits_us.concat()), percentiles(hanging.waits_us.concat()));
    let what = format!("webhook latency, {HANGING} of {MANY} endpoints hang, p99 of the others");
    let line = Line::new(LEVEL, engine.name(), &what, waits.p99_ms, " ms")
        .beside("none hangs:", Rounds::of(&[calm.p99_ms]))
        .with_latency(waits)
        .note(format!("{STEADY_PER_SECOND} payments per second; each event is sent to all endpoints of its account"))
        .note(format!(
            "in {seconds} s of payments {} webhooks arrived, {} requests hung",
            grouped(&hanging.progress.distinct.to_string()),
            hanging.progress.hung
        ))
        .note(format!("p50 {:.1} ms while no endpoint hung", calm.p50_ms));
    Ok(with_postgres_target(line, engine, Target::AtMost(MAX_RATIO)))
}

/// Creates `number` pending charges, of the first `accounts` accounts.
async fn charges(service: &Service, accounts: usize, number: usize) -> Result<Vec<Created>> {
    let keys = service.keys.get(..accounts).context("too few accounts")?;
    let load = Load { address: service.address()?, scripts: creators(keys, 0), until: Until::Calls(count(number)) };
    let outcome = load.run().await?.clean()?;
    // Takes the first charge of each caller, then the second of each, and so on. Neighbouring callers have different
    // accounts, so the accounts alternate.
    let mut created: Vec<_> = outcome.scripts.into_iter().map(|script| script.created.into_iter()).collect();
    let mut mixed = Vec::new();
    while mixed.len() < number {
        let before = mixed.len();
        mixed.extend(created.iter_mut().filter_map(Iterator::next));
        ensure!(mixed.len() > before, "only {before} of {number} charges were created");
    }
    Ok(mixed)
}

/// Pays the charges at a steady rate, and waits for all webhooks of answering endpoints. Returns the counts and times
/// of these webhooks.
async fn steady(
    service: &Service,
    receiver: &mut Receiver,
    charges: &[Created],
    hanging: usize,
) -> Result<ReceivedWebhooks> {
    let address = service.address()?;
    let every = Duration::from_secs(1).saturating_mul(u32::try_from(PAYERS)?) / u32::try_from(STEADY_PER_SECOND)?;
    let began = Instant::now();
    let payers = (0..PAYERS).map(|payer| async move {
        let mut connection = Connection::open(address).await?;
        let offset = (every / u32::try_from(PAYERS)?).saturating_mul(u32::try_from(payer)?);
        let mut ticks = interval_at(tokio::time::Instant::from_std(began + offset), every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for charge in charges.iter().skip(payer).step_by(PAYERS) {
            ticks.tick().await;
            pay::check_answer(connection.ask(&pay::request(charge)).await?)?;
        }
        Ok::<_, anyhow::Error>(())
    });
    try_join_all(payers).await?;
    let expected = charges.iter().map(|charge| answering_endpoints(service, charge, hanging)).sum();
    receiver.wait_for(expected).await?;
    receiver.take()
}

/// Returns the number of answering endpoints of a charge's account.
fn answering_endpoints(service: &Service, charge: &Created, hanging: usize) -> u64 {
    let accounts = service.keys.iter().cycle();
    count((0..MANY).zip(accounts).skip(hanging).filter(|(_, key)| key.as_str() == &*charge.key).count())
}

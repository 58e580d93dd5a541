//! Measures creations of charges, credits and payouts. The service and a slow institution run in separate processes.

pub mod institution;
mod scripts;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::payment::CreditedPayment;
use cais_ports::ReconciliationQueries as _;
use jiff::{SignedDuration, Timestamp};

use crate::clock::now;
use crate::database::{self, Engine, Postgres};
use crate::http::Load;
use crate::latency::Latencies;
use crate::numbers::{count, grouped, per_second};
use crate::process::Meter;
use crate::report::{Line, Target};
use crate::requests::{Created, creators_of};
use crate::run_size::RunSize;
use crate::service::Service;
use crate::window::Until;
use institution::{Institution, NAME};
use scripts::{merchants, pay_at, payers};

const LEVEL: &str = "upstream";
/// The delay of each answer of the institution, in milliseconds.
const LATENCY_MS: u64 = 200;
/// The number of callers, more than the usual 64: with a slow institution, each request is in flight for longer.
const CALLERS: usize = 512;
/// The number of connections that pay charges. They use the institution's control interface, whose answers are not
/// delayed.
const PAYERS: usize = 32;
/// The number of charges that the payers pay without pauses.
const PAID: usize = 10_000;
/// The number of these charges in the short run.
const PAID_IF_QUICK: usize = 3_000;
/// The number of payments per second while other callers create charges.
const STEADY_RATE: u32 = 300;
/// The duration of these payments, in seconds.
const STEADY_S: u64 = 5;
/// The amount of a charge, in centavos.
const AMOUNT: u64 = 1_050;

/// Measures creations, credits of payments without pauses, credits during creations, and payouts.
///
/// # Errors
/// If an answer is wrong, or a payment is not credited.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let institution = Institution::start()?;
    let mut service = Service::start_with(engine, server, &institution.settings()?).await?;
    let address = service.address()?;
    let mut parties = vec![
        ("service", service.process_id()?),
        ("institution", institution.process_id()),
        ("generator", std::process::id()),
    ];
    if let (Engine::Postgres, Some(server)) = (engine, server) {
        parties.push(("postgres", server.process_id()));
    }
    institution.slow_down(LATENCY_MS).await?;
    let target = |line: Line, target| if matches!(engine, Engine::Postgres) { line.with_target(target) } else { line };

    let without_pauses = if size.quick { PAID_IF_QUICK } else { PAID };
    let steady = usize::try_from(u64::from(STEADY_RATE).saturating_mul(STEADY_S))?;
    let all = count(without_pauses.saturating_add(steady));
    let meter = Meter::start(&parties)?;
    let load = Load { address, scripts: creators_of(&service.keys, 0, CALLERS), until: Until::Calls(all) };
    let creations = load.run().await?.clean()?;
    let busy = meter.stop()?;
    let rate = creations.rate();
    let mut created: Vec<Created> = creations.scripts.into_iter().flat_map(|script| script.created).collect();
    let what = format!("POST /v1/charges, {LATENCY_MS} ms delay, {CALLERS} connections");
    let mut lines = vec![
        Line::new(LEVEL, engine.name(), &what, rate, "/s").with_latency(creations.latencies.percentiles()).busy(busy),
    ];

    let later = created.split_off(without_pauses);
    let (paid, from) = (Arc::new(created), now());
    let meter = Meter::start(&parties)?;
    let began = Instant::now();
    let load = Load {
        address: institution.address()?,
        scripts: payers(&paid, PAYERS),
        until: Until::Calls(count(paid.len())),
    };
    let paying = tokio::spawn(load.run());
    service.until_credited(count(paid.len()).saturating_mul(AMOUNT)).await?;
    let took = began.elapsed();
    let busy = meter.stop()?;
    paying.await?.and_then(crate::http::Outcome::clean)?;
    let until = now();
    let what = format!("payments credited after their callbacks, {LATENCY_MS} ms delay");
    let line = Line::new(LEVEL, engine.name(), &what, per_second(count(paid.len()), took), "/s").busy(busy);
    let line = line.note(format!(
        "{} payments; measured from the first payment to the last credit",
        grouped(&paid.len().to_string())
    ));
    lines.push(target(line, Target::AtLeast(1_500.0)));

    let meter = Meter::start(&parties)?;
    let creating = Load { address, scripts: creators_of(&service.keys, 1, 64), until: Until::seconds(STEADY_S) };
    let creating = tokio::spawn(creating.run());
    pay_at(institution.address()?, &later, STEADY_RATE).await?;
    service.until_credited(all.saturating_mul(AMOUNT)).await?;
    let created = creating.await?.and_then(crate::http::Outcome::clean)?.rate();
    let (busy, steady_until) = (meter.stop()?, now());

    let meter = Meter::start(&parties)?;
    let load = Load { address, scripts: merchants(&service.keys, CALLERS), until: Until::seconds(size.seconds) };
    let payouts = load.run().await?.clean()?;
    let payouts_busy = meter.stop()?;
    service.stop_and_verify()?;

    let mut waits = Latencies::default();
    for credit in credits(&service.database, until, steady_until).await? {
        let wait = credit.credited_at.duration_since(credit.payment.paid_at);
        waits.record(Duration::try_from(wait).unwrap_or_default());
    }
    let waits = waits.percentiles();
    let what = format!("time from payment to credit, {LATENCY_MS} ms delay, {STEADY_RATE} payments/s, p99");
    let line = Line::new(LEVEL, engine.name(), &what, waits.p99_ms, " ms").with_latency(waits).busy(busy);
    let line = line.note(format!("while {created:.0} charges per second were created"));
    lines.push(target(line, Target::AtMost(2_000.0)));

    let what = format!("POST /v1/payouts, {LATENCY_MS} ms delay, {CALLERS} connections");
    let line = Line::new(LEVEL, engine.name(), &what, payouts.rate(), "/s");
    lines.push(line.with_latency(payouts.latencies.percentiles()).busy(payouts_busy));
    let stored = credits(&service.database, from, steady_until).await?.len();
    ensure!(count(stored) == all, "{stored} payments are credited of {all}");
    Ok(lines)
}

/// Returns the credited payments that the institution received from `from` to `until`.
async fn credits(url: &str, from: Timestamp, until: Timestamp) -> Result<Vec<CreditedPayment>> {
    let persistence = database::open(url).await?;
    let acquirer = AcquirerName::parse(NAME)?;
    let from = from.saturating_sub(SignedDuration::from_millis(1))?;
    let credits = persistence.list_payments_between(&acquirer, from, until, None, 1_000_000).await?;
    persistence.close().await;
    Ok(credits)
}

//! Crypto: quotes, and deposits from their creation to their credit, with `cais sandbox` as the processor.

mod processor;
mod scripts;

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::CALLERS;
use crate::database::{Engine, Postgres};
use crate::http::{Load, Outcome};
use crate::latency::Latencies;
use crate::numbers::{Rounds, count, grouped, per_second};
use crate::process::{Meter, mean};
use crate::report::Line;
use crate::run_size::RunSize;
use crate::service::Service;
use crate::upstream::institution::Institution;
use crate::window::Until;
use processor::payments;
use scripts::{depositors, payers, quoters};

const LEVEL: &str = "crypto";
const RATE: &str = "/s";
/// The number of deposits that are created and paid.
const PAID: usize = 2_000;
/// The number of these deposits in the short run.
const PAID_IF_QUICK: usize = 500;
/// The number of connections that pay deposits, at the sandbox's control interface.
const PAYERS: usize = 32;
/// The amount of a deposit, in centavos.
const AMOUNT: u64 = 10_000;

/// Measures quotes, the creation of deposits, and their credits.
///
/// # Errors
/// If an answer is wrong, or a deposit is not credited exactly once.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let institution = Institution::start()?;
    let settings = [institution.settings()?, institution.crypto_settings()?].concat();
    let mut service = Service::start_with(engine, server, &settings).await?;
    service.enable("crypto_in,crypto_out")?;
    let address = service.address()?;
    let mut parties = vec![
        ("service", service.process_id()?),
        ("sandbox", institution.process_id()),
        ("generator", std::process::id()),
    ];
    if let (Engine::Postgres, Some(server)) = (engine, server) {
        parties.push(("postgres", server.process_id()));
    }

    let (mut rates, mut busy, mut latencies) = (Vec::new(), Vec::new(), Latencies::default());
    for _ in 0..size.rounds {
        let meter = Meter::start(&parties)?;
        let scripts = quoters(&service.keys, CALLERS);
        let outcome = Load { address, scripts, until: Until::seconds(size.seconds) }.run().await?.clean()?;
        busy.push(meter.stop()?);
        rates.push(outcome.rate());
        latencies.merge(outcome.latencies);
    }
    let rounds = Rounds::of(&rates);
    let what = format!("POST /v1/crypto/quotes, {CALLERS} connections");
    let quotes = Line::of_rounds(LEVEL, engine.name(), &what, rounds, RATE)
        .with_latency(latencies.percentiles())
        .busy(mean(&busy))
        .note(format!(
            "{} rounds; a quote needs the coin's price, the rate of the US dollar and the coin's minimum amount",
            rounds.number
        ));

    let deposits = if size.quick { PAID_IF_QUICK } else { PAID };
    let meter = Meter::start(&parties)?;
    let scripts = depositors(&service.keys, CALLERS);
    let created = Load { address, scripts, until: Until::Calls(count(deposits)) }.run().await?.clean()?;
    let what = format!("POST /v1/crypto/deposits, {CALLERS} connections");
    let creations = Line::new(LEVEL, engine.name(), &what, created.rate(), RATE)
        .with_latency(created.latencies.percentiles())
        .busy(meter.stop()?);

    let payments = payments(&institution).await?;
    ensure!(payments.len() == deposits, "{} payments for {deposits} deposits", payments.len());
    let meter = Meter::start(&parties)?;
    let began = Instant::now();
    let scripts = payers(&Arc::new(payments), PAYERS);
    let paying = Load { address: institution.address()?, scripts, until: Until::Calls(count(deposits)) };
    let paying = tokio::spawn(paying.run());
    let expected = count(deposits).saturating_mul(AMOUNT);
    service.until_credited(expected).await?;
    let took = began.elapsed();
    let busy = meter.stop()?;
    paying.await?.and_then(Outcome::clean)?;
    let credited = service.credited().await?;
    ensure!(credited == expected, "{credited} centavos are credited of {expected}");
    service.stop_and_verify()?;
    let what = "crypto deposits credited after their notifications";
    let credits =
        Line::new(LEVEL, engine.name(), what, per_second(count(deposits), took), RATE).busy(busy).note(format!(
            "{} deposits; measured from the first payment to the last credit; the sandbox confirms a payment after 1 s",
            grouped(&deposits.to_string())
        ));
    Ok(vec![quotes, creations, credits])
}

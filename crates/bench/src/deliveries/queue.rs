//! The queue alone: deliveries claimed per second, without sending them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, DeliveryId};
use cais_persistence::Persistence;
use cais_ports::{
    AttemptOutcome, ClaimedDelivery, DeliveryAttempt, DeliveryClaim, DeliveryQueue as _, EndpointQueue,
    FinishedAttempt, Health, NewDelivery, Store as _,
};
use cais_testkit::builders::{a_test_delivery, an_endpoint, fresh, queue_of, steps};
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};

use super::tally::Tally;
use super::{LEVEL, MANY, RATE, parties, preload, with_postgres_target};
use crate::clock;
use crate::database::{Engine, MeasuredDatabase, Postgres};
use crate::latency::{Latencies, Percentiles};
use crate::numbers::{Rounds, count, grouped, per_second};
use crate::process::{Cores, Meter, mean};
use crate::report::{Line, Target};
use crate::run_size::RunSize;

/// The required number of deliveries claimed per second.
const REQUIRED_RATE: f64 = 10_000.0;
/// The number of endpoints of each account.
const PER_ACCOUNT: u8 = 20;
/// The most deliveries per claim, the most deliveries in flight per endpoint, and the lease, all as in the service.
const LIMIT: u32 = 256;
const PER_ENDPOINT: u32 = 8;
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The largest number of queues that one search returns.
const SEARCH_LIMIT: u32 = 1_024;
/// The number of searches.
const SEARCHES: usize = 100;
/// The number of queues with one delivery each, and in how many of them the delivery is due.
const QUEUES: usize = 200_000;
const DUE_QUEUES: usize = 100;
/// The endpoints and deliveries that one step of the preparation creates.
const STEP: usize = 1_000;
/// The delay of the deliveries that are not due.
const NOT_DUE_DELAY: SignedDuration = SignedDuration::from_hours(1);

/// Measures claims alone, claims whose outcomes are also recorded, and the search for due queues.
pub(super) async fn measure(
    engine: Engine,
    server: Option<&Postgres>,
    size: RunSize,
    claims: usize,
) -> Result<Vec<Line>> {
    let database = MeasuredDatabase::fresh(engine, server)?;
    let mut queue = Queue::fill(database.open().await?, claims.saturating_mul(size.rounds).saturating_mul(2)).await?;
    database.run("VACUUM ANALYZE")?;
    database.flush_writes()?;
    let searches = queue.measure_searches().await?;
    let parties = parties([("caller with the store", std::process::id())], engine, server);
    let (mut claimed, mut delivered) = (Series::default(), Series::default());
    for _ in 0..size.rounds {
        claimed.add(&parties, queue.claim_all(claims)).await?;
    }
    for _ in 0..size.rounds {
        delivered.add(&parties, queue.deliver_all(claims)).await?;
    }
    let finished = count(claims.saturating_mul(size.rounds));
    let tally = Tally::of(&queue.store, &queue.accounts).await?;
    ensure!(
        tally.succeeded == finished && tally.attempts == finished,
        "not exactly {finished} deliveries succeeded, with one attempt each: {tally:?}"
    );
    queue.store.close().await;
    let line = |series: Series, what: &str| series.line(engine, what);
    let claimed = line(claimed, "deliveries of 100 endpoints claimed").note("no delivery claimed twice in a round");
    let delivered = line(delivered, "deliveries of 100 endpoints claimed, outcomes recorded").note(format!(
        "afterwards {} deliveries are `succeeded`, with one attempt each",
        grouped(&finished.to_string())
    ));
    Ok(vec![
        with_postgres_target(claimed, engine, Target::AtLeast(REQUIRED_RATE)),
        delivered,
        Line::new(LEVEL, engine.name(), "search for endpoints with due deliveries, 100 of 100", searches.p50_ms, " ms")
            .with_latency(searches)
            .note(format!("median of {SEARCHES} searches; {} deliveries due", grouped(&queue.due.to_string()))),
        many_queues(engine, server).await?,
    ])
}

/// Measures the search among many queues with few due ones.
async fn many_queues(engine: Engine, server: Option<&Postgres>) -> Result<Line> {
    let database = MeasuredDatabase::fresh(engine, server)?;
    let store = database.open().await?;
    let now = clock::now();
    let mut opened = 0_usize;
    while opened < QUEUES {
        let mut endpoints = Vec::new();
        while endpoints.len() < STEP {
            let account = fresh();
            endpoints.extend((0..PER_ACCOUNT).map(|slot| an_endpoint(account, slot)));
        }
        try_join_all(endpoints.iter().map(|endpoint| store.commit(steps::open_endpoint(endpoint)))).await?;
        let mut tests = Vec::new();
        for endpoint in &endpoints {
            let at = if opened < DUE_QUEUES { now } else { now.checked_add(NOT_DUE_DELAY)? };
            tests.push(NewDelivery { at, ..a_test_delivery(endpoint) });
            opened = opened.saturating_add(1);
        }
        store.put(tests, None).await?;
    }
    let mut waits = Latencies::default();
    for _ in 0..SEARCHES {
        let began = Instant::now();
        let found = store.due_queues(clock::now(), None, SEARCH_LIMIT).await?;
        waits.record(began.elapsed());
        ensure!(found.due.len() == DUE_QUEUES, "{} queues, not {DUE_QUEUES}, have due deliveries", found.due.len());
        ensure!(store.cancel_stale(LIMIT).await? == 0, "a delivery was cancelled");
    }
    store.close().await;
    let searches = waits.percentiles();
    let what = format!("search for endpoints with due deliveries, {DUE_QUEUES} of {}", grouped(&QUEUES.to_string()));
    let note = format!("median of {SEARCHES} searches; {DUE_QUEUES} deliveries due");
    Ok(Line::new(LEVEL, engine.name(), &what, searches.p50_ms, " ms").with_latency(searches).note(note))
}

/// The results over all rounds, either of claims alone or of claims whose outcomes are also recorded.
#[derive(Debug, Default)]
struct Series {
    rates: Vec<f64>,
    claims: Latencies,
    busy: Vec<Vec<Cores>>,
}

impl Series {
    async fn add(
        &mut self,
        parties: &[(&'static str, u32)],
        work: impl Future<Output = Result<(usize, Latencies)>>,
    ) -> Result<()> {
        let (meter, began) = (Meter::start(parties)?, Instant::now());
        let (number, claims) = work.await?;
        self.rates.push(per_second(count(number), began.elapsed()));
        self.claims.merge(claims);
        self.busy.push(meter.stop()?);
        Ok(())
    }

    fn line(self, engine: Engine, what: &str) -> Line {
        let rounds = Rounds::of(&self.rates);
        Line::of_rounds(LEVEL, engine.name(), what, rounds, RATE)
            .with_latency(self.claims.percentiles())
            .busy(mean(&self.busy))
            .note(format!("{} rounds; p50 and p99 are of one claim of at most {LIMIT} deliveries", rounds.number))
    }
}

/// A queue with all deliveries due.
struct Queue {
    store: Persistence,
    accounts: Vec<AccountId>,
    queues: Vec<EndpointQueue>,
    /// The instant of the next claim. The instant runs ahead of the clock, so that leases end without waiting.
    now: Timestamp,
    due: usize,
}

impl Queue {
    /// Creates `number` due deliveries, in equal parts for 100 endpoints.
    async fn fill(store: Persistence, number: usize) -> Result<Self> {
        let (mut accounts, mut queues) = (Vec::new(), Vec::new());
        while queues.len() < MANY {
            let account: AccountId = fresh();
            for slot in 0..PER_ACCOUNT {
                let endpoint = an_endpoint(account, slot);
                store.commit(steps::open_endpoint(&endpoint)).await?;
                queues.push(queue_of(&endpoint));
            }
            accounts.push(account);
        }
        let pairs: Vec<_> = accounts.iter().map(|account| (*account, EventType::ChargePaid)).collect();
        preload::events(&store, &pairs, number.div_ceil(usize::from(PER_ACCOUNT))).await?;
        Ok(Self { store, accounts, queues, now: clock::now(), due: number })
    }

    /// Measures the search for due queues.
    async fn measure_searches(&self) -> Result<Percentiles> {
        let mut waits = Latencies::default();
        for _ in 0..SEARCHES {
            let began = Instant::now();
            let found = self.store.due_queues(self.now, None, SEARCH_LIMIT).await?;
            waits.record(began.elapsed());
            ensure!(found.due.len() == self.queues.len(), "{} queues have due deliveries", found.due.len());
        }
        Ok(waits.percentiles())
    }

    /// Claims `number` deliveries in several claims. Each claim begins after the lease of the previous claim has ended.
    async fn claim_all(&mut self, number: usize) -> Result<(usize, Latencies)> {
        let mut ids: HashSet<DeliveryId> = HashSet::new();
        let (mut claimed, mut waits) = (0_usize, Latencies::default());
        while claimed < number {
            let got = self.claim(number.saturating_sub(claimed), &mut waits).await?;
            claimed = claimed.saturating_add(got.len());
            ids.extend(got.iter().map(|one| one.key.id));
            self.now = self.now.checked_add(LEASE)?.checked_add(Duration::from_millis(1))?;
        }
        ensure!(ids.len() == claimed, "{claimed} deliveries claimed, but only {} different ones", ids.len());
        Ok((claimed, waits))
    }

    /// Claims `number` deliveries in several claims. The success of each claim's deliveries is recorded during the next
    /// claim.
    async fn deliver_all(&mut self, number: usize) -> Result<(usize, Latencies)> {
        let (mut claimed, mut waits) = (0_usize, Latencies::default());
        let mut arrived = Vec::new();
        while claimed < number {
            let store = self.store.clone();
            let finishing = async move { if arrived.is_empty() { Ok(()) } else { store.finish(arrived).await } };
            let (got, finished) =
                futures_util::future::join(self.claim(number.saturating_sub(claimed), &mut waits), finishing).await;
            finished?;
            let got = got?;
            claimed = claimed.saturating_add(got.len());
            arrived = got.iter().map(|one| succeeded(one, self.now)).collect();
            self.now = self.now.checked_add(Duration::from_millis(1))?;
        }
        self.store.finish(arrived).await?;
        Ok((claimed, waits))
    }

    async fn claim(&self, left: usize, waits: &mut Latencies) -> Result<Vec<ClaimedDelivery>> {
        let claim = DeliveryClaim {
            queues: self.queues.clone(),
            now: self.now,
            lease_until: self.now.checked_add(LEASE)?,
            per_endpoint: PER_ENDPOINT,
            at_once: PER_ENDPOINT,
            limit: u32::try_from(left)?.min(LIMIT),
        };
        let began = Instant::now();
        let got = self.store.claim(claim).await?;
        waits.record(began.elapsed());
        ensure!(!got.is_empty(), "a claim returned no delivery although all are due");
        Ok(got)
    }
}

/// Returns the outcome of an immediate success.
fn succeeded(claimed: &ClaimedDelivery, at: Timestamp) -> FinishedAttempt {
    let response_body = Some("ok".to_owned());
    FinishedAttempt {
        key: claimed.key,
        fence: claimed.fence,
        epoch: claimed.endpoint.epoch,
        tries: claimed.tries,
        attempt: DeliveryAttempt { at, status_code: Some(200), duration_ms: 3, error: None, response_body },
        outcome: AttemptOutcome::Succeeded,
        health: Health::Unchanged,
    }
}

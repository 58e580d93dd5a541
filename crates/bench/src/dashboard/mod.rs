//! Pages of the dashboard over HTTP, for an account with many charges in the last 30 days.

mod visitor;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use cais_domain::ids::{CashInId, CashOutId};
use cais_domain::timeline::Direction;
use cais_ports::{AccountQueries as _, IdGenerator, PageRequest, TimelineQueries as _, TransactionFilter};

use self::visitor::Visitor;
use crate::activity::{Calendar, fill};
use crate::database::{self, Engine, Postgres};
use crate::http::Connection;
use crate::latency::Latencies;
use crate::numbers::grouped;
use crate::report::{Line, Target};
use crate::run_size::RunSize;
use crate::service::{Service, email};

const LEVEL: &str = "dashboard";
/// The number of charges of the account.
const CHARGES: usize = 1_000_000;
/// The number of charges in the short run.
const CHARGES_IF_QUICK: usize = 50_000;
/// The number of days in the totals of the home page. The activity is spread over these days.
const DAYS: u64 = 30;
/// The number of rows of activity with six charges of the account. The other four rows are three payouts and a share
/// in another account's charge.
const ROWS_OF_SIX_CHARGES: usize = 10;
/// The views of each page. The views of all pages together stay below the 300 requests that a session may make at once.
const VIEWS: usize = 80;
/// The largest permitted median time of a page, in milliseconds.
const MAX_MEDIAN_MS: f64 = 30.0;
/// The text that a home page contains while its totals are not complete.
const COUNTING: &str = "id=\"totals\" hx-get";
/// The pause between two views while the totals are counted, and the largest number of such views.
const COUNT_PAUSE: Duration = Duration::from_millis(500);
const MAX_COUNT_VIEWS: usize = 240;

/// Measures views of the home page and of pages of transactions.
///
/// # Errors
/// If the service fails or a page is wrong.
pub async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let charges = if size.quick { CHARGES_IF_QUICK } else { CHARGES };
    let mut service = Service::prepare(engine, server)?;
    let middle = seed(&service.database, charges.div_ceil(6).saturating_mul(ROWS_OF_SIX_CHARGES)).await?;
    if let (Engine::Postgres, Some(server)) = (engine, server) {
        // Gathers statistics, which new tables do not have, unlike tables in use.
        server.run(&service.database, "VACUUM ANALYZE")?;
    }
    service.launch().await?;
    let visitor = Visitor::log_in(&service, 0).await?;
    let mut connection = Connection::open(service.address()?).await?;
    let first = view(&mut connection, &visitor.request("/")).await?;
    for _ in 0..MAX_COUNT_VIEWS {
        if !view(&mut connection, &visitor.request("/")).await?.1.contains(COUNTING) {
            break;
        }
        tokio::time::sleep(COUNT_PAUSE).await;
    }
    let (mut lines, charges) = (Vec::new(), grouped(&charges.to_string()));
    for (what, path, expected) in [
        ("home page", "/".to_owned(), "id=\"available\""),
        ("first page of transactions", "/transactions".to_owned(), "rel=\"next\""),
        ("middle page of transactions", format!("/transactions?starting_after={middle}"), "rel=\"next\""),
    ] {
        let (request, mut waits) = (visitor.request(&path), Latencies::default());
        for _ in 0..VIEWS {
            let (wait, page) = view(&mut connection, &request).await?;
            ensure!(page.contains(expected) && !page.contains(COUNTING), "{path}: {page}");
            waits.record(wait);
        }
        let waits = waits.percentiles();
        let line = Line::new(LEVEL, engine.name(), what, waits.p50_ms, " ms").with_latency(waits);
        lines.push(
            line.with_target(Target::AtMost(MAX_MEDIAN_MS))
                .note(format!("account with {charges} charges in {DAYS} days; median of {VIEWS} views")),
        );
    }
    let counting =
        format!("the first view, shown before all totals were counted, took {:.1} ms", first.0.as_secs_f64() * 1e3);
    if let Some(home) = lines.first_mut() {
        home.notes.push(counting);
    }
    service.stop()?;
    Ok(lines)
}

/// Returns the time until the whole page arrived, and the page.
async fn view(connection: &mut Connection, request: &[u8]) -> Result<(Duration, String)> {
    let began = Instant::now();
    let answer = connection.ask(request).await?;
    let wait = began.elapsed();
    let page = String::from_utf8_lossy(answer.body).into_owned();
    ensure!(answer.status == 200, "{}: {page}", answer.status);
    Ok((wait, page))
}

/// Adds `rows` rows of activity to the first account. Returns the id of a transaction in the middle of its timeline.
async fn seed(url: &str, rows: usize) -> Result<String> {
    let calendar = Arc::new(Calendar::of_last_days(DAYS, rows)?);
    let ids: Arc<dyn IdGenerator> = Arc::<Calendar>::clone(&calendar);
    let persistence = database::open_with(url, ids).await?;
    let account = persistence.find_account_by_email(&email(0)).await?.context("no account")?;
    let middle = fill(&persistence, &calendar, account.id, rows).await?;
    let page = PageRequest { limit: 1, starting_after: Some(middle) };
    let found = persistence.list_transactions(account.id, TransactionFilter::default(), page).await?.rows;
    persistence.close().await;
    let middle = found.first().context("no transaction in the middle")?;
    Ok(match middle.direction() {
        Direction::CashIn => CashInId::new(middle.key()).to_string(),
        Direction::CashOut => CashOutId::new(middle.key()).to_string(),
    })
}

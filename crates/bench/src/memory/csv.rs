//! A long statement as CSV: memory and speed of the service.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use cais_ports::{AccountQueries as _, IdGenerator};

use super::{IDLE, LEVEL};
use crate::activity::{Calendar, fill};
use crate::database::{self, Engine, Postgres};
use crate::http::{download, get_csv};
use crate::numbers::{count, grouped, per_second, ratio, real};
use crate::process::resident_mib;
use crate::report::{Line, Target};
use crate::run_size::RunSize;
use crate::service::{Service, email};

/// The number of lines of each statement, ascending. Memory is measured for the longest statement.
const ROWS: [usize; 3] = [10_000, 100_000, 1_000_000];
/// The number of statements in the short run.
const SENT_IF_QUICK: usize = 2;
/// The required lines per second for a statement of any length, even before PostgreSQL has analyzed the tables.
const REQUIRED_RATE: f64 = 50_000.0;
/// The interval of memory samples.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// The pause of the reader after the first bytes of the longest statement. If unread data accumulated in the service,
/// memory would grow in this pause.
const PAUSE: Duration = Duration::from_secs(2);

/// Writes the rows of all statements, starts the service, and reads each statement once. PostgreSQL gathers no
/// statistics meanwhile.
pub(super) async fn measure(engine: Engine, server: Option<&Postgres>, size: RunSize) -> Result<Vec<Line>> {
    let sent = if size.quick { SENT_IF_QUICK } else { ROWS.len() };
    let lengths: Vec<usize> = ROWS.into_iter().take(sent).collect();
    let mut service = Service::prepare(engine, server)?;
    if engine == Engine::Postgres {
        database::disable_autovacuum(server, &service.database)?;
    }
    seed(&service.database, &lengths).await?;
    service.launch().await?;
    tokio::time::sleep(IDLE).await;
    let mut lines = Vec::new();
    for (number, rows) in lengths.iter().copied().enumerate() {
        let pause = if number.saturating_add(1) == sent { PAUSE } else { Duration::ZERO };
        let file = read(&service, number, rows, pause).await?;
        let line = |what: &str, value, unit| Line::new(LEVEL, engine.name(), what, value, unit);
        let length = grouped(&rows.to_string());
        if pause == PAUSE {
            let mib = ratio(real(file.bytes), 1024.0 * 1024.0);
            let MeasuredDownload { idle, peak, .. } = file;
            lines.push(
                line("memory growth while a statement is sent as CSV", peak - idle, " MiB")
                    .with_target(Target::AtMost(50.0))
                    .note(format!("file of {length} lines and {mib:.0} MiB; memory from {idle:.1} to {peak:.1} MiB")),
            );
        }
        lines.push(
            line(
                &format!("lines sent as CSV, statement of {length} lines"),
                per_second(count(rows), file.elapsed),
                "/s",
            )
            .with_target(Target::AtLeast(REQUIRED_RATE))
            .note(format!("all {length} lines arrived in {:.2} s; tables never analyzed", file.elapsed.as_secs_f64())),
        );
    }
    Ok(lines)
}

/// A received file, and the memory of the service meanwhile.
struct MeasuredDownload {
    bytes: u64,
    elapsed: Duration,
    idle: f64,
    peak: f64,
}

/// Reads the statement of an account, and samples the memory of the service meanwhile.
async fn read(service: &Service, number: usize, rows: usize, pause: Duration) -> Result<MeasuredDownload> {
    let process = service.process_id()?;
    let idle = resident_mib(process)?;
    let key = service.keys.get(number).context("no key")?;
    let request = get_csv("/v1/balance/entries", key);
    let mut peak = idle;
    let mut file = pin!(download(service.address()?, &request, pause));
    let file = loop {
        tokio::select! {
            file = &mut file => break file?,
            () = tokio::time::sleep(SAMPLE_INTERVAL) => peak = peak.max(resident_mib(process)?),
        }
    };
    // The first line has the names of the columns.
    let sent = file.lines.saturating_sub(1);
    ensure!(sent == count(rows), "{sent} lines of {rows} arrived");
    Ok(MeasuredDownload { bytes: file.bytes, elapsed: file.elapsed, idle, peak })
}

/// Gives each of the first accounts a long statement.
async fn seed(url: &str, lengths: &[usize]) -> Result<()> {
    let calendar = Arc::new(Calendar::default());
    let ids: Arc<dyn IdGenerator> = Arc::<Calendar>::clone(&calendar);
    let persistence = database::open_with(url, ids).await?;
    for (number, rows) in lengths.iter().copied().enumerate() {
        let account = persistence.find_account_by_email(&email(number)).await?.context("no account")?;
        fill(&persistence, &calendar, account.id, rows).await?;
    }
    persistence.close().await;
    Ok(())
}

//! A long statement as CSV: what the service needs while it sends it, and how fast it does.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use cais_ports::{AccountQueries as _, Ids};

use super::{IDLE, LEVEL};
use crate::activity::{Calendar, fill};
use crate::cli::Plan;
use crate::database::{self, Engine, Postgres};
use crate::http::{download, get_csv};
use crate::numbers::{count, per_second, ratio, real};
use crate::process::resident_mib;
use crate::report::{Line, Target};
use crate::service::{Service, email};

/// Lines of the statement.
const ROWS: usize = 1_000_000;
/// The same in the short run.
const ROWS_IF_QUICK: usize = 100_000;
/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long the reader takes nothing after the first bytes: what it does not take must not pile up.
const PAUSE: Duration = Duration::from_secs(2);

/// The file, read once.
pub(super) async fn measure(engine: Engine, server: Option<&Postgres>, plan: Plan) -> Result<Vec<Line>> {
    let rows = if plan.quick { ROWS_IF_QUICK } else { ROWS };
    let mut service = Service::prepare(engine, server)?;
    seed(&service.database, rows).await?;
    service.launch().await?;
    tokio::time::sleep(IDLE).await;
    let process = service.process_id()?;
    let idle = resident_mib(process)?;
    let key = service.keys.first().context("no key")?;
    let request = get_csv("/v1/balance/entries", key);
    let mut peak = idle;
    let mut file = pin!(download(service.address()?, &request, PAUSE));
    let file = loop {
        tokio::select! {
            file = &mut file => break file?,
            () = tokio::time::sleep(LOOK) => peak = peak.max(resident_mib(process)?),
        }
    };
    // The first line has the names.
    let sent = file.lines.saturating_sub(1);
    ensure!(sent == count(rows), "{sent} lines of {rows} came");
    let mib = ratio(real(file.bytes), 1024.0 * 1024.0);
    let line = |what: &str, value, unit| Line::new(LEVEL, engine.name(), what, value, unit);
    Ok(vec![
        line("memory above idle while a statement is sent as CSV", peak - idle, " MiB")
            .wanting(Target::AtMost(50.0))
            .note(format!("{rows} lines, {mib:.0} MiB, from {idle:.1} to {peak:.1} MiB")),
        line("lines of a statement sent as CSV", per_second(sent, file.elapsed), "/s")
            .note(format!("all {sent} came, in {:.1} s", file.elapsed.as_secs_f64())),
    ])
}

/// Gives the first account a long statement.
async fn seed(url: &str, rows: usize) -> Result<()> {
    let calendar = Arc::new(Calendar::default());
    let ids: Arc<dyn Ids> = Arc::<Calendar>::clone(&calendar);
    let persistence = database::open_with(url, ids).await?;
    let account = persistence.find_account_by_email(&email(0)).await?.context("no account")?;
    fill(&persistence, &calendar, account.id, rows).await?;
    persistence.close().await;
    Ok(())
}

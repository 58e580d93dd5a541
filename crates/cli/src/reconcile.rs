//! `cais reconcile`: compares charges, payouts and refunds with the acquirers' lists, and crypto deposits and withdrawals with the
//! processor's lists. Missed payments are credited.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use cais_http_api::days;
use cais_use_cases::Ports;
use cais_use_cases::crypto::exposure::Exposure;
use cais_use_cases::reconcile::{self, Difference, Progress, Report};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::context::{Access, CliContext};
use crate::ledger;
use crate::output::{Output, instant, table};

/// Exit code if a list of an acquirer or the processor could not be read to its end.
const UNREAD: u8 = 2;
/// Interval between two updates of the progress display.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Longest span from `--from` to `--to`. The span is limited, because each day needs requests, even without payments.
const LONGEST: SignedDuration = SignedDuration::from_hours(367 * 24);

/// The arguments of `cais reconcile`.
#[derive(Debug, Args)]
pub struct ReconcileArgs {
    /// Start of the span: a day of São Paulo as YYYY-MM-DD, or an instant such as 2026-01-31T12:00:00Z; at most 367 days before --to
    #[arg(long, value_name = "DAY", value_parser = days::beginning)]
    from: Timestamp,
    /// End of the span, that day or instant included; by default now
    #[arg(long, value_name = "DAY", value_parser = days::end)]
    to: Option<Timestamp>,
    /// Report differences and credit nothing
    #[arg(long)]
    no_repair: bool,
}

/// Compares the lists, credits missed payments unless `--no-repair` is given, and prints a report.
///
/// Exit codes:
///
/// - 2 if a list of an acquirer or the processor could not be read to its end;
/// - otherwise 1 if a difference remains, a row is unreadable, or the report does not contain all of them;
/// - otherwise 0.
///
/// # Errors
/// The span is invalid, or the store or the acquirers cannot be used.
pub async fn run(context: &dyn CliContext, args: ReconcileArgs, output: Output) -> anyhow::Result<ExitCode> {
    let opened = context.open(Access::Acquirers).await?;
    opened.run(async |ports| compare(ports, args, output).await).await
}

async fn compare(ports: &Ports, args: ReconcileArgs, output: Output) -> anyhow::Result<ExitCode> {
    let until = args.to.unwrap_or_else(|| ports.clock.now());
    ensure!(args.from < until, "--to must be after --from");
    let span = until.duration_since(args.from);
    ensure!(span <= LONGEST, "--from must be at most {} days before --to", LONGEST.as_hours() / 24);
    let bar = progress_bar()?;
    let show = |progress: Progress| {
        bar.set_message(format!("{}: {} {}", progress.acquirer, progress.done, progress.list));
    };
    let report = reconcile::run(ports, args.from, until, !args.no_repair, &show).await;
    bar.finish_and_clear();
    let report = report?;
    output.print(&as_json(&report, (args.from, until)), || for_people(&report))?;
    Ok(code_of(&report))
}

/// Returns the progress display on standard error. The display is hidden if standard error is not a terminal.
fn progress_bar() -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}")?;
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(PROGRESS_INTERVAL);
    Ok(bar)
}

fn has_no_open_difference(report: &Report) -> bool {
    !report.more && report.open() == 0
}

fn code_of(report: &Report) -> ExitCode {
    match (report.unread.is_empty(), has_no_open_difference(report)) {
        (false, _) => ExitCode::from(UNREAD),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
}

fn as_json(report: &Report, (from, until): (Timestamp, Timestamp)) -> Value {
    let differences: Vec<Value> = report.differences.iter().map(difference_as_json).collect();
    let unread: Vec<Value> = report
        .unread
        .iter()
        .map(|(acquirer, cause)| json!({ "acquirer": acquirer.as_str(), "cause": cause }))
        .collect();
    let unreadable: Vec<Value> = report
        .unreadable
        .iter()
        .map(|(acquirer, row)| json!({ "acquirer": acquirer.as_str(), "name": row.name, "cause": row.reason }))
        .collect();
    json!({
        "ok": report.unread.is_empty() && has_no_open_difference(report),
        "from": instant(from),
        "until": instant(until),
        "received": report.received,
        "sent": report.sent,
        "refunds": report.refunds,
        "deposits": report.deposits,
        "withdrawals": report.withdrawals,
        "exposure": report.exposure.as_ref().map(ledger::exposure_as_json),
        "differences": differences,
        "more": report.more,
        "unreadable": unreadable,
        "unread": unread,
    })
}

fn difference_as_json(difference: &Difference) -> Value {
    json!({
        "kind": difference.kind.as_str(),
        "acquirer": difference.acquirer.as_str(),
        "resource": difference.resource,
        "upstream_id": difference.upstream_id,
        "ours": difference.ours,
        "theirs": difference.theirs,
        "repaired": difference.repaired,
    })
}

fn for_people(report: &Report) -> String {
    let Report { received, sent, refunds, deposits, withdrawals, exposure, .. } = report;
    let mut text = format!("Compared {received} Pix received, {sent} sent and {refunds} returned.");
    if exposure.is_some() || *deposits > 0 || *withdrawals > 0 {
        text = format!("{text} Compared {deposits} crypto payments and {withdrawals} crypto withdrawals.");
    }
    for (acquirer, cause) in &report.unread {
        for part in ["\n", acquirer.as_str(), " could not be read to the end: ", cause] {
            text.push_str(part);
        }
    }
    for (acquirer, row) in &report.unreadable {
        for part in ["\n", acquirer.as_str(), " lists a row that cannot be read: ", &row.name, ": ", &row.reason] {
            text.push_str(part);
        }
    }
    if report.differences.is_empty() {
        text.push_str(if report.unread.is_empty() && report.unreadable.is_empty() {
            " No difference."
        } else {
            "\nNo difference in what could be read."
        });
        text.push_str(&exposure_for_people(exposure.as_ref()));
        return text;
    }
    let rows: Vec<Vec<String>> = report.differences.iter().map(row).collect();
    text.push_str("\n\n");
    text.push_str(&table(&["DIFFERENCE", "ACQUIRER", "OURS", "THEIRS", "RESOURCE", "UPSTREAM ID", "REPAIRED"], &rows));
    if report.more {
        text.push_str("\n\nThere are more differences: compare a shorter span.");
    }
    text.push_str(&exposure_for_people(exposure.as_ref()));
    text
}

/// Returns the comparison of the coins at the processor with the ledger. Coins that are worth less than the ledger owes are not a
/// difference of the report, because exchange rates change. Without the comparison the text is empty.
fn exposure_for_people(exposure: Option<&Exposure>) -> String {
    exposure.map(|exposure| format!("\n\n{}", ledger::exposure_for_people(exposure))).unwrap_or_default()
}

fn row(difference: &Difference) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![
        difference.kind.as_str().to_owned(),
        difference.acquirer.to_string(),
        or_dash(&difference.ours),
        or_dash(&difference.theirs),
        or_dash(&difference.resource),
        difference.upstream_id.clone(),
        if difference.repaired { "yes" } else { "no" }.to_owned(),
    ]
}

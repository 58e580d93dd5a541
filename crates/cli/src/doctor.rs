//! `cais doctor`: checks an installation and changes nothing.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::context::CliContext;
use crate::finding::{Finding, Status};
use crate::output::{Output, table};

/// The installation that is checked.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check an installation that is started with `cais serve --sandbox`
    #[arg(long)]
    pub sandbox: bool,
}

/// Checks everything and prints one line per check. The exit code is 1 when a check failed.
///
/// # Errors
/// Standard output cannot be written.
pub async fn run(context: &dyn CliContext, output: Output) -> anyhow::Result<ExitCode> {
    print(&context.examine().await, output)
}

fn print(findings: &[Finding], output: Output) -> anyhow::Result<ExitCode> {
    let ok = findings.iter().all(|finding| finding.status != Status::Failed);
    let checks: Vec<Value> = findings
        .iter()
        .map(|Finding { status, check, message }| json!({ "check": check, "status": status.as_str(), "message": message }))
        .collect();
    output.print(&json!({ "ok": ok, "checks": checks }), || {
        let row = |finding: &Finding| {
            vec![finding.status.as_str().to_owned(), finding.check.clone(), finding.message.clone()]
        };
        table(&["STATUS", "CHECK", "MESSAGE"], &findings.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

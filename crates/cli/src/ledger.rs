//! `cais ledger`: verifies balances against their entries.

use std::process::ExitCode;

use cais_use_cases::Ports;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::output::{Output, table};

/// The operations on the ledger.
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Rebuild every balance from its entries and compare; exit with 1 when something differs
    Verify,
}

/// Verifies the ledger.
///
/// # Errors
/// The error of the store.
pub async fn verify(ports: &Ports, output: Output) -> anyhow::Result<ExitCode> {
    let report = ports.maintenance.verify_ledger().await?;
    let ok = report.differences.is_empty();
    let differences: Vec<Value> = report
        .differences
        .iter()
        .map(|difference| json!({ "what": difference.what, "expected": difference.expected, "stored": difference.stored }))
        .collect();
    let value = json!({ "ok": ok, "accounts": report.accounts, "entries": report.entries, "differences": differences });
    output.print(&value, || {
        let books = format!("{} ledger accounts rebuilt from {} entries", report.accounts, report.entries);
        if ok {
            return format!("The ledger adds up: {books}.");
        }
        let rows: Vec<Vec<String>> = report
            .differences
            .iter()
            .map(|difference| {
                vec![difference.what.clone(), difference.expected.to_string(), difference.stored.to_string()]
            })
            .collect();
        format!("The ledger does not add up: {books}.\n\n{}", table(&["WHAT", "EXPECTED", "STORED"], &rows))
    })?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

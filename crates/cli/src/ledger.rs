//! `cais ledger`: verifies balances against their entries, and compares the ledger with the coins at the crypto processor.

use std::process::ExitCode;

use anyhow::Context;
use cais_use_cases::Ports;
use cais_use_cases::crypto::exposure::{self, Exposure, HeldCoins};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::output::{Output, amount, fields, table};

/// The operations on the ledger.
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Rebuild every balance from its entries and compare it with the stored balance; exit with 1 if a difference is found
    Verify,
    /// Compare the coins at the crypto processor with the BRL that the ledger records for them
    Report,
}

/// Verifies the ledger. The exit code is 1 if a difference is found.
///
/// # Errors
/// The error of the store.
pub async fn verify(ports: &Ports, output: Output) -> anyhow::Result<ExitCode> {
    let report = cais_use_cases::ledger::verify(ports).await?;
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

/// Reports the coins at the crypto processor, their value, and the BRL that the ledger records for them.
///
/// # Errors
/// No processor is configured, or the processor, the source of rates or the store fails.
pub async fn report(ports: &Ports, output: Output) -> anyhow::Result<()> {
    let crypto =
        ports.crypto.as_ref().context("no crypto processor is configured, so there are no coins to compare")?;
    let exposure = exposure::read(ports, crypto).await?;
    let mut value = exposure_as_json(&exposure);
    if let Value::Object(object) = &mut value {
        object.insert("processor".to_owned(), crypto.processor.name().as_str().into());
    }
    output.print(&value, || exposure_for_people(&exposure))?;
    Ok(())
}

/// Returns the comparison of the coins at the processor with the ledger, as JSON.
pub(crate) fn exposure_as_json(exposure: &Exposure) -> Value {
    let row = |coins: &HeldCoins| {
        json!({
            "currency": coins.coins.currency().code(),
            "coins": coins.coins.to_string(),
            "rate": coins.rate.to_string(),
            "worth": amount(coins.worth),
        })
    };
    json!({
        "owed": amount(exposure.owed),
        "worth": amount(exposure.worth),
        "surplus": amount(exposure.surplus),
        "coins": exposure.held.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Returns the comparison of the coins at the processor with the ledger, as a table.
pub(crate) fn exposure_for_people(exposure: &Exposure) -> String {
    let row = |coins: &HeldCoins| {
        let currency = coins.coins.currency().code().to_owned();
        vec![currency, coins.coins.to_string(), coins.rate.to_string(), coins.worth.to_string()]
    };
    let rows: Vec<Vec<String>> = exposure.held.iter().map(row).collect();
    let Exposure { worth, owed, surplus, .. } = exposure;
    let sums = fields(&[("worth", worth.to_string()), ("owed", owed.to_string()), ("surplus", surplus.to_string())]);
    format!("{}\n\n{sums}", table(&["CURRENCY", "COINS", "BRL PER COIN", "WORTH"], &rows))
}

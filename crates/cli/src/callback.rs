//! `cais callback`: lists the callbacks that could not be matched, and processes a callback again.

use cais_domain::ids::CallbackId;
use cais_ports::{Actor, Callback, PageRequest};
use cais_use_cases::Ports;
use cais_use_cases::callbacks::retry::{list_unmatched, named, retry};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::output::{Output, instant, table};

/// Callbacks read per page.
const PAGE: u32 = 200;

/// The commands for callbacks.
#[derive(Debug, Subcommand)]
pub enum CallbackCommand {
    /// List the callbacks that could not be matched, newest first
    List,
    /// Process a callback again: read the records that it names, at the acquirer or the crypto processor
    Retry {
        /// Id of the callback, `ntc_…`
        #[arg(value_parser = CallbackId::parse)]
        id: CallbackId,
    },
}

/// Runs the command.
///
/// # Errors
/// No callback has the id, the callback is already processed, or the store failed.
pub async fn run(ports: &Ports, operator: &Actor, command: CallbackCommand, output: Output) -> anyhow::Result<()> {
    match command {
        CallbackCommand::List => list(ports, output).await,
        CallbackCommand::Retry { id } => {
            let callback = retry(ports, operator, id).await?;
            output.print(&as_json(&callback), || {
                format!("The callback {id} is due again. A running service processes it at once.")
            })?;
            Ok(())
        }
    }
}

async fn list(ports: &Ports, output: Output) -> anyhow::Result<()> {
    let (mut found, mut starting_after) = (Vec::new(), None);
    loop {
        // All pages fit into memory, because the service keeps a limited number of unmatched callbacks per acquirer.
        let page = list_unmatched(ports, PageRequest { limit: PAGE, starting_after }).await?;
        starting_after = page.rows.last().map(|callback| callback.id);
        found.extend(page.rows);
        if !page.has_more || starting_after.is_none() {
            break;
        }
    }
    output.print(&json!({ "data": found.iter().map(as_json).collect::<Vec<_>>() }), || {
        if found.is_empty() {
            return "There are no unmatched callbacks.".to_owned();
        }
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        table(&["ID", "RECEIVED", "ACQUIRER", "ATTEMPTS", "NAMES"], &rows)
    })?;
    Ok(())
}

fn row(callback: &Callback) -> Vec<String> {
    let names = named(callback);
    let more = names.lines().count().saturating_sub(1);
    let first = names.lines().next().unwrap_or_default();
    let names = if more > 0 { format!("{first} and {more} more") } else { first.to_owned() };
    let attempts = callback.attempts.to_string();
    vec![callback.id.to_string(), instant(callback.received_at), callback.acquirer.to_string(), attempts, names]
}

fn as_json(callback: &Callback) -> Value {
    json!({
        "id": callback.id.to_string(),
        "acquirer": callback.acquirer.as_str(),
        "status": callback.state.as_str(),
        "attempts": callback.attempts,
        "received_at": instant(callback.received_at),
        "names": named(callback).lines().collect::<Vec<_>>(),
    })
}

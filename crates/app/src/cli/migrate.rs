//! `cais migrate`: brings the schema up to date, or lists its migrations.

use std::process::ExitCode;

use cais_persistence::migrations;
use serde_json::json;

use super::output::{Output, table};
use crate::config::Config;
use crate::wiring;

/// Runs the pending migrations. With `only_look` it only lists them, with exit code 1 if there are any.
///
/// # Errors
/// The error of the database.
pub fn run(config: &Config, only_look: bool, output: Output) -> anyhow::Result<ExitCode> {
    if only_look {
        return status(config, output);
    }
    wiring::make_data_dir(config)?;
    let applied = migrations::migrate(&config.database_url, &wiring::migration_owner())?;
    output.print(&json!({ "applied": applied }), || match applied.as_slice() {
        [] => "The schema is up to date; there was nothing to do.".to_owned(),
        applied => format!("Applied {}. The schema is up to date.", applied.join(", ")),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn status(config: &Config, output: Output) -> anyhow::Result<ExitCode> {
    let schema = migrations::status(&config.database_url)?;
    let good = schema.pending.is_empty();
    let value = json!({ "ok": good, "applied": schema.applied, "pending": schema.pending, "unknown": schema.unknown });
    output.print(&value, || {
        let states = [("applied", &schema.applied), ("pending", &schema.pending), ("unknown", &schema.unknown)];
        let row = |state: &str, name: &String| vec![name.clone(), state.to_owned()];
        let rows = states.into_iter().flat_map(|(state, names)| names.iter().map(move |name| row(state, name)));
        table(&["MIGRATION", "STATE"], &rows.collect::<Vec<_>>())
    })?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

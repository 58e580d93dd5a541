//! `cais migrate`: brings the schema up to date, or lists its migrations.

use std::process::ExitCode;

use serde_json::json;

use crate::context::CliContext;
use crate::output::{Output, table};

/// Runs the pending migrations. With `status`, only lists the migrations; the exit code is 1 if one is pending.
///
/// # Errors
/// The error of the database.
pub fn run(context: &dyn CliContext, status: bool, output: Output) -> anyhow::Result<ExitCode> {
    if status {
        return print_status(context, output);
    }
    let applied = context.migrate()?;
    output.print(&json!({ "applied": applied }), || match applied.as_slice() {
        [] => "The schema is up to date; no migration was pending.".to_owned(),
        applied => format!("Applied {}. The schema is up to date.", applied.join(", ")),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn print_status(context: &dyn CliContext, output: Output) -> anyhow::Result<ExitCode> {
    let schema = context.migrations()?;
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

//! `cais sandbox`: runs the simulated acquirer and crypto processor in a process of their own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Map, Value};

use crate::context::{CliContext, RunningSandbox};
use crate::output::{Output, fields};
use crate::signals::Signals;

/// Runs the sandbox until a signal ends it.
///
/// # Errors
/// The sandbox cannot start.
pub async fn run(
    context: &dyn CliContext,
    listen: SocketAddr,
    state_file: Option<PathBuf>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let RunningSandbox { credentials: rows, stop } = context.start_sandbox(listen, state_file).await?;
    let value: Map<String, Value> = rows.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into())).collect();
    output.print(&Value::Object(value), || format!("The sandbox is running.\n\n{}", fields(&rows)))?;
    signals.received().await;
    signals.force_exit_on_next();
    stop.await;
    Ok(ExitCode::SUCCESS)
}

//! `cais sandbox`: the simulated acquirer alone, as another company's system.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use cais_sandbox::{Sandbox, SandboxConfig};
use serde_json::json;

use super::output::{Output, fields};
use crate::config::Config;
use crate::signals::Signals;
use crate::wiring;

/// Runs the sandbox until a signal ends it.
///
/// # Errors
/// The sandbox cannot start.
pub async fn run(
    config: Config,
    listen: SocketAddr,
    state_file: Option<PathBuf>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let state_file = match state_file {
        Some(file) => file,
        None => wiring::sandbox_state_file(&config)?,
    };
    let sandbox = Sandbox::start(SandboxConfig { listen, state_file: Some(state_file), ..SandboxConfig::default() })
        .await
        .context("the sandbox does not start")?;
    let credentials = sandbox.credentials();
    let value = json!({
        "base_url": credentials.base_url,
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "pix_key": credentials.pix_key,
    });
    output.print(&value, || {
        let rows = [
            ("base_url", credentials.base_url.clone()),
            ("client_id", credentials.client_id.clone()),
            ("client_secret", credentials.client_secret.clone()),
            ("pix_key", credentials.pix_key.clone()),
        ];
        format!("The sandbox is running.\n\n{}", fields(&rows))
    })?;
    signals.received().await;
    signals.force_exit_on_next();
    sandbox.stop().await;
    Ok(ExitCode::SUCCESS)
}

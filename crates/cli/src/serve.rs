//! `cais serve`: runs the service until a signal arrives.

use std::process::ExitCode;

use crate::context::{CliContext, Purpose};
use crate::signals::Signals;

/// Serves until a signal arrives.
///
/// # Errors
/// The service cannot start, or fails later.
pub async fn run(context: &dyn CliContext) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let mut service = context.start(Purpose::Serve).await?;
    let ended = tokio::select! {
        () = signals.received() => {
            tracing::info!("service stopping after a signal; requests in flight are answered");
            Ok(())
        }
        error = service.failed() => Err(error),
    };
    signals.force_exit_on_next();
    service.stop().await;
    tracing::info!("service stopped; all accepted changes are committed");
    ended.map(|()| ExitCode::SUCCESS)
}

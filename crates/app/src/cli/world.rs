//! Opens the store for one command, beside a server that may be running, and closes it again.

use cais_use_cases::Ports;

use crate::config::Config;
use crate::wiring::Foundation;

/// Does `work` with the ports of that configuration; no acquirer is reached.
///
/// # Errors
/// What keeps the store from opening, or what `work` says.
pub async fn with<T>(config: Config, work: impl AsyncFnOnce(&Ports) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let foundation = Foundation::open(&config).await?;
    let ports = foundation.ports_without_acquirers();
    let result = work(&ports).await;
    drop(ports);
    foundation.close().await;
    result
}

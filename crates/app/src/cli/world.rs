//! Opens the store for one command, also beside a running server, and closes it afterwards.

use std::path::Path;

use cais_use_cases::Ports;

use crate::config::Config;
use crate::wiring::Foundation;

/// Requires an existing database. Otherwise a mistyped path would create an empty store with a new master key.
///
/// # Errors
/// The path of the SQLite file that does not exist.
pub fn must_exist(config: &Config) -> anyhow::Result<()> {
    let url = config.database_url.to_string();
    let missing = url.strip_prefix("sqlite:").filter(|path| !Path::new(path).exists());
    match missing {
        Some(path) => anyhow::bail!(
            "there is no database at {path}: `cais serve`, `cais migrate` and `cais account create` make one, else see `data_dir` and `database_url`"
        ),
        None => Ok(()),
    }
}

/// Runs `work` with the ports of the configuration. No acquirer is reached.
///
/// # Errors
/// The store cannot be opened, or `work` failed.
pub async fn with<T>(config: Config, work: impl AsyncFnOnce(&Ports) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let foundation = Foundation::open(&config).await?;
    let ports = foundation.ports_without_acquirers();
    let result = work(&ports).await;
    drop(ports);
    foundation.close().await;
    result
}

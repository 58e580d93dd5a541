//! Opens the store for one command, beside a server that may be running, and closes it again.

use std::path::Path;

use cais_use_cases::Ports;

use crate::config::Config;
use crate::wiring::Foundation;

/// Refuses to go on where there is no database yet: a mistyped path must not become an empty store with a new master key.
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

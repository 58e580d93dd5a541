//! The checks at the start: the world of the database (`sandbox` or `live`) and its master key must match the configuration.

use cais_config::{Config, InstallationError, World, compare_world};
use cais_persistence::{Fact, Persistence};
use cais_secrets::MasterKey;

/// Records the world at the first start. Later starts with another world are rejected.
///
/// # Errors
/// [`InstallationError::OtherWorld`], [`InstallationError::Query`].
pub async fn confirm_world(persistence: &Persistence, configured: World) -> Result<(), InstallationError> {
    let recorded = persistence.record_fact(Fact::World, configured.as_str().to_owned()).await?;
    compare_world(&recorded, configured)
}

/// Returns the master key of the database: the configured key, otherwise the key in the data directory. If neither exists, the first start
/// creates the key in the data directory.
///
/// # Errors
/// [`InstallationError`]; a key that differs from the key of the first start is rejected.
pub async fn master_key(config: &Config, persistence: &Persistence) -> Result<MasterKey, InstallationError> {
    let mut key = config.find_master_key()?;
    if key.is_none() {
        let recorded = persistence.find_fact(Fact::MasterKeyCheck).await?;
        // Another first start may have created the key meanwhile, so it is read again.
        key = config.find_master_key()?;
        config.compare_master_key(key.as_ref(), recorded.as_deref())?;
    }
    let key = key.map_or_else(|| MasterKey::create(&config.data_dir), Ok)?;
    let recorded = persistence.record_fact(Fact::MasterKeyCheck, key.check_value()).await?;
    config.compare_master_key(Some(&key), Some(&recorded))?;
    Ok(key)
}

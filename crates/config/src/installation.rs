//! The comparison of a configuration with its database. A database has one world and one master key for its whole life.

use std::path::Path;

use cais_ports::QueryError;
use cais_secrets::{MASTER_KEY_FILE, MasterKey, MasterKeyError};

use crate::{Config, World};

/// The reason to reject a start.
#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    /// The database belongs to the other world.
    #[error(
        "this database belongs to the {recorded} world, and this start is of the {configured} world: balances of the sandbox are play money, so the two never share a database. {}",
        advice(*.configured)
    )]
    OtherWorld {
        /// The world that the first start recorded.
        recorded: String,
        /// The world that the configuration selects.
        configured: World,
    },
    /// The master key differs from the key of the first start.
    #[error(
        "the master key in {origin} is not the key of this database: every API key would be refused, and no webhook could be signed. Give the key that the database was set up with"
    )]
    OtherMasterKey {
        /// The file or the variable that the key was read from.
        origin: String,
    },
    /// The database was set up with a master key, but neither the configuration nor the data directory contains a master key.
    #[error(
        "{file} does not exist, and the database was set up with a master key: restore the file from its backup, or give the key in CAIS_MASTER_KEY or `master_key_file`. With a new key every API key would be refused"
    )]
    LostMasterKey {
        /// The path of the missing file.
        file: String,
    },
    /// The file with the master key cannot be used.
    #[error(transparent)]
    MasterKey(#[from] MasterKeyError),
    /// The database cannot be read.
    #[error("the database cannot be checked: {0}")]
    Query(#[from] QueryError),
}

const fn advice(configured: World) -> &'static str {
    match configured {
        World::Live => {
            "Use a new database (`database_url`, `data_dir`) for the acquirers, or start without acquirers and with `--sandbox`"
        }
        World::Sandbox => {
            "Configure the acquirers of this database, or use another database (`database_url`, `data_dir`) for the sandbox"
        }
    }
}

/// Compares the world that the database recorded with `configured`, the world that the configuration selects.
///
/// # Errors
/// [`InstallationError::OtherWorld`].
pub fn compare_world(recorded: &str, configured: World) -> Result<(), InstallationError> {
    let recorded = recorded.to_owned();
    if recorded == configured.as_str() { Ok(()) } else { Err(InstallationError::OtherWorld { recorded, configured }) }
}

impl Config {
    /// Returns the configured master key, otherwise the master key in the data directory. Returns `None` if neither exists.
    ///
    /// # Errors
    /// [`InstallationError::MasterKey`].
    pub fn find_master_key(&self) -> Result<Option<MasterKey>, InstallationError> {
        match &self.master_key {
            Some(key) => Ok(Some(key.clone())),
            None => Ok(MasterKey::find(&self.data_dir)?),
        }
    }

    /// Compares `key`, the result of [`Config::find_master_key`], with `recorded`, the check value in the database. Returns `true` if they
    /// match, and `false` if the database has no check value yet. In the second case the next start of the service records the value, and
    /// creates a key if none exists.
    ///
    /// # Errors
    /// [`InstallationError::OtherMasterKey`], [`InstallationError::LostMasterKey`].
    pub fn compare_master_key(
        &self,
        key: Option<&MasterKey>,
        recorded: Option<&str>,
    ) -> Result<bool, InstallationError> {
        match (key, recorded) {
            (Some(key), Some(recorded)) if key.check_value() == recorded => Ok(true),
            (Some(_), Some(_)) => Err(InstallationError::OtherMasterKey { origin: origin(self) }),
            (None, Some(_)) => Err(InstallationError::LostMasterKey { file: file(&self.data_dir) }),
            (Some(_) | None, None) => Ok(false),
        }
    }
}

fn file(data_dir: &Path) -> String {
    data_dir.join(MASTER_KEY_FILE).display().to_string()
}

/// Returns the origin of the master key of this start: a file or a variable.
fn origin(config: &Config) -> String {
    if config.master_key.is_none() {
        return file(&config.data_dir);
    }
    let entry = |key: &str| config.effective.iter().find(|entry| entry.key == key);
    match (entry("master_key_file"), entry("master_key")) {
        (Some(named), _) => named.value.clone(),
        (None, Some(given)) => given.origin.clone(),
        (None, None) => "the configuration".to_owned(),
    }
}

//! The checks at the start, before the data is touched: the database's world and its master key.

use std::path::Path;

use cais_persistence::{Fact, Persistence};
use cais_ports::{KeyedHash as _, QueryError};

use cais_config::{Config, World};
use cais_secrets::{HmacSha256, MASTER_KEY_FILE, MasterKey, MasterKeyError, hex};

/// The reason to reject a start.
#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    /// The database belongs to the other world.
    #[error(
        "this database belongs to the {recorded} world, and this start is of the {asked} world: balances of the sandbox are play money, so the two never share a database. {}",
        advice(*.asked)
    )]
    OtherWorld {
        /// The world that the first start recorded.
        recorded: String,
        /// The world of this start.
        asked: World,
    },
    /// The key differs from that of the first start.
    #[error(
        "the master key in {origin} is not the key of this database: every API key would be refused, and no webhook could be signed. Give the key that the database was set up with"
    )]
    OtherMasterKey {
        /// The file or the variable that the key was read from.
        origin: String,
    },
    /// The database has a master key, but the key is not found.
    #[error(
        "{file} does not exist, and the database was set up with a master key: restore the file from its backup, or give the key in CAIS_MASTER_KEY or `master_key_file`. With a new key every API key would be refused"
    )]
    LostMasterKey {
        /// The file of the data directory.
        file: String,
    },
    /// The file cannot be used.
    #[error(transparent)]
    MasterKey(#[from] MasterKeyError),
    /// The database cannot be read.
    #[error("the database cannot be checked: {0}")]
    Query(#[from] QueryError),
}

const fn advice(asked: World) -> &'static str {
    match asked {
        World::Live => {
            "Use a new database (`database_url`, `data_dir`) for the acquirers, or start without acquirers and with `--sandbox`"
        }
        World::Sandbox => {
            "Configure its acquirers, or use another database (`database_url`, `data_dir`) for the sandbox"
        }
    }
}

/// Records the world at the first start. Later starts with the other world are rejected.
///
/// # Errors
/// [`InstallationError::OtherWorld`], [`InstallationError::Query`].
pub async fn confirm_world(persistence: &Persistence, asked: World) -> Result<(), InstallationError> {
    let recorded = persistence.record_fact(Fact::World, asked.as_str().to_owned()).await?;
    compare_world(&recorded, asked)
}

/// Compares the recorded world of a database with the requested world.
///
/// # Errors
/// [`InstallationError::OtherWorld`].
pub fn compare_world(recorded: &str, asked: World) -> Result<(), InstallationError> {
    let recorded = recorded.to_owned();
    if recorded == asked.as_str() { Ok(()) } else { Err(InstallationError::OtherWorld { recorded, asked }) }
}

/// Returns the master key of the database: the configured one, else the one in the data directory, which the first
/// start creates.
///
/// # Errors
/// [`InstallationError`]; a key other than that of the first start is rejected.
pub async fn master_key(config: &Config, persistence: &Persistence) -> Result<MasterKey, InstallationError> {
    let key = match &config.master_key {
        Some(key) => key.clone(),
        None => key_of_data_dir(&config.data_dir, persistence).await?,
    };
    let check = check_value(&key);
    if persistence.record_fact(Fact::MasterKeyCheck, check.clone()).await? == check {
        Ok(key)
    } else {
        Err(InstallationError::OtherMasterKey { origin: origin(config) })
    }
}

/// Returns the check value of a master key. The key cannot be derived from the value.
fn check_value(key: &MasterKey) -> String {
    hex(&HmacSha256::new(key).hash("master-key-check", b"cais").0)
}

/// Compares the configured key with the check value of a database, and creates no key. Returns `false` if the key or
/// the value does not exist yet; the next start creates both.
///
/// # Errors
/// [`InstallationError`].
pub fn compare_master_key(config: &Config, recorded: Option<&str>) -> Result<bool, InstallationError> {
    let key = match &config.master_key {
        Some(key) => Some(key.clone()),
        None => MasterKey::find(&config.data_dir)?,
    };
    match (key, recorded) {
        (Some(key), Some(recorded)) if check_value(&key) == recorded => Ok(true),
        (Some(_), Some(_)) => Err(InstallationError::OtherMasterKey { origin: origin(config) }),
        (None, Some(_)) => Err(InstallationError::LostMasterKey { file: file(&config.data_dir) }),
        (Some(_) | None, None) => Ok(false),
    }
}

async fn key_of_data_dir(data_dir: &Path, persistence: &Persistence) -> Result<MasterKey, InstallationError> {
    if let Some(key) = MasterKey::find(data_dir)? {
        return Ok(key);
    }
    if persistence.find_fact(Fact::MasterKeyCheck).await?.is_none() {
        return Ok(MasterKey::create(data_dir)?);
    }
    // Another first start may have created the key since the first check.
    MasterKey::find(data_dir)?.ok_or_else(|| InstallationError::LostMasterKey { file: file(data_dir) })
}

fn file(data_dir: &Path) -> String {
    data_dir.join(MASTER_KEY_FILE).display().to_string()
}

/// Returns the file or variable with the key of this start.
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

//! The inspection of a database, without changes, for an operator's check of an installation.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::OpenOrders;
use jiff::Timestamp;

use crate::config::StoreConfig;
use crate::error::Fault;
use crate::installation::{Fact, recorded};
use crate::migrations::{self, NOW_POSTGRES, NOW_SQLITE, Schema};
use crate::reader::open_orders;
use crate::sql::Query;
use crate::url::{Address, DatabaseUrl};
use crate::{OpenError, engine_of};

/// The state of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The migrations of the database.
    pub schema: Schema,
    /// The recorded world; `None` before the first start, or while migrations are pending.
    pub world: Option<String>,
    /// The recorded check value of the master key; `None` before the first start, or while migrations are pending.
    pub master_key_check: Option<String>,
    /// The open orders at each acquirer whose lists the service has read; none while migrations are pending.
    pub open_orders: Vec<(AcquirerName, OpenOrders)>,
    /// The clock of the database.
    pub now: Timestamp,
}

/// Inspects a database. Returns `None` if the SQLite file does not exist. Blocks.
///
/// # Errors
/// [`OpenError::Unavailable`].
pub fn inspect(url: &DatabaseUrl) -> Result<Option<Inspection>, OpenError> {
    let is_sqlite = match url.address() {
        Address::Sqlite(path) if !path.exists() => return Ok(None),
        Address::Sqlite(_) => true,
        Address::Postgres(_) => false,
    };
    let mut session = engine_of(&StoreConfig::new(url.clone())).connect_reader()?;
    let schema = migrations::schema(&mut *session, is_sqlite)?;
    let mut fact = |fact| if schema.pending.is_empty() { recorded(&mut *session, fact) } else { Ok(None) };
    let (world, master_key_check) = (fact(Fact::World)?, fact(Fact::MasterKeyCheck)?);
    let open_orders = if schema.pending.is_empty() { open_orders(&mut *session)? } else { Vec::new() };
    let clock = if is_sqlite { NOW_SQLITE } else { NOW_POSTGRES };
    let rows = session.load(&Query::new(format!("SELECT {clock}, CAST(0 AS BIGINT)"))).map_err(Fault::from)?;
    let now = rows.first().and_then(|(now, _)| Timestamp::from_microsecond(*now).ok());
    let now = now.ok_or_else(|| Fault::Corrupt("the database returned no time".to_owned()))?;
    Ok(Some(Inspection { schema, world, master_key_check, open_orders, now }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;
    use crate::sqlite::Sqlite;

    #[test]
    fn inspected_file_keeps_its_bytes_and_journal_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        let url = DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap();
        migrations::migrate(&url, "test").unwrap();
        // A backup made by `VACUUM INTO` is in this journal mode too.
        drop(Sqlite::new(&path, Duration::ZERO).connect("PRAGMA journal_mode = DELETE").unwrap());
        let before = std::fs::read(&path).unwrap();
        assert!(inspect(&url).unwrap().unwrap().schema.pending.is_empty());
        assert!(std::fs::read(&path).unwrap() == before, "the inspection changed the file");
    }
}

//! Connections to a SQLite file. Each commit is durable unless the settings of its connection relax this. If another process has locked the
//! file, a statement waits.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::r2d2::{ConnectionManager, ManageConnection};

use super::turns::{Turns, Writer};
use crate::error::Fault;
use crate::sql::Session;

/// The mode of a new file: only its owner reads and writes the file.
const FILE_MODE: u32 = 0o600;

/// Sets the journal mode in which readers do not wait for the writer. The file keeps the mode, so connections that only read do not set it.
pub(crate) const WAL: &str = "PRAGMA journal_mode = WAL";

/// A SQLite file.
pub(crate) struct Sqlite {
    path: PathBuf,
    busy_timeout: Duration,
    turns: Arc<Turns>,
}

impl Sqlite {
    /// Creates a value for the file at `path`, without opening the file. `busy_timeout` limits each wait: for another process, and for the
    /// turn of a writer.
    pub(crate) fn new(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), busy_timeout, turns: Arc::default() }
    }

    /// Creates the file if it is missing. Only its owner can read and write the new file.
    ///
    /// # Errors
    /// [`Fault::Down`] if the folder is missing, or this process has no permission to write to it.
    pub(crate) fn create(&self) -> Result<(), Fault> {
        let made = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&self.path);
        match made {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(Fault::Down(format!("cannot create {}: {error}", self.path.display()))),
        }
    }

    /// Returns whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Opens a connection that writes when its turn comes. `settings` are additional `PRAGMA` statements.
    pub(super) fn connect_in_turn(&self, settings: &str) -> Result<Writer, Fault> {
        Ok(Writer::new(self.connect(&format!("{WAL}; {settings}"))?, Arc::clone(&self.turns), self.busy_timeout))
    }

    /// Opens a connection. `settings` are additional `PRAGMA` statements. The file stays unchanged unless one of them changes the file.
    pub(crate) fn connect(&self, settings: &str) -> Result<SqliteConnection, Fault> {
        let path = std::path::absolute(&self.path).map_err(|error| Fault::Down(error.to_string()))?;
        if !path.exists() {
            return Err(Fault::Down(format!("there is no database at {}", path.display())));
        }
        let text = path.to_str().ok_or_else(|| Fault::Down(format!("{} is not UTF-8", path.display())))?;
        let mut connection = ConnectionManager::<SqliteConnection>::new(text)
            .connect()
            .map_err(|error| Fault::Down(format!("cannot open {text}: {error}")))?;
        // The timeout is set first, because each of the other settings may itself wait for another process.
        connection.run(&format!("PRAGMA busy_timeout = {}", self.busy_timeout.as_millis()))?;
        connection.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096")?;
        connection.run(settings)?;
        Ok(connection)
    }
}

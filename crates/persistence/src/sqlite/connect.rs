//! Connections to a SQLite file. Each commit is durable unless the settings relax it. A statement waits for other processes.

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

/// In this mode readers do not wait for the writer. The file keeps the mode, so connections that only read do not set it.
pub(crate) const WAL: &str = "PRAGMA journal_mode = WAL";

/// A SQLite file.
pub(crate) struct Sqlite {
    path: PathBuf,
    busy_timeout: Duration,
    turns: Arc<Turns>,
}

impl Sqlite {
    /// Creates a file handle from a path and the longest wait for another process.
    pub(crate) fn new(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), busy_timeout, turns: Arc::default() }
    }

    /// Creates the file if it is missing, readable by its owner only.
    ///
    /// # Errors
    /// [`Fault::Down`] if its folder is missing or may not be written.
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

    /// Opens a connection that writes when its turn comes, with these additional settings.
    pub(super) fn connect_in_turn(&self, settings: &str) -> Result<Writer, Fault> {
        Ok(Writer::new(self.connect(&format!("{WAL}; {settings}"))?, Arc::clone(&self.turns), self.busy_timeout))
    }

    /// Opens a connection with these additional settings. The file stays unchanged unless a setting changes the file.
    pub(crate) fn connect(&self, settings: &str) -> Result<SqliteConnection, Fault> {
        let path = std::path::absolute(&self.path).map_err(|error| Fault::Down(error.to_string()))?;
        if !path.exists() {
            return Err(Fault::Down(format!("there is no database at {}", path.display())));
        }
        let text = path.to_str().ok_or_else(|| Fault::Down(format!("{} is not UTF-8", path.display())))?;
        let mut connection = ConnectionManager::<SqliteConnection>::new(text)
            .connect()
            .map_err(|error| Fault::Down(format!("cannot open {text}: {error}")))?;
        // The timeout is set first, because the other settings may already wait for another process.
        connection.run(&format!("PRAGMA busy_timeout = {}", self.busy_timeout.as_millis()))?;
        connection.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096")?;
        connection.run(settings)?;
        Ok(connection)
    }
}

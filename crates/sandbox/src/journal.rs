//! The state file: an append-only list of changes. Each opening of the file replaces the list by a snapshot of the state.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    random_ids::{self, NoEntropy},
    state::{Books, Inconsistent, change::Change},
};

/// The version of the file's format. Files of another version are refused.
const FORMAT: u32 = 1;

/// The simulator's credentials and Pix key, chosen at random. The first line of the file contains them, so they survive restarts.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    /// The format of the file.
    format: u32,
    /// `OAuth2` client id.
    pub client_id: String,
    /// `OAuth2` client secret.
    pub client_secret: String,
    /// The account's Pix key.
    pub pix_key: String,
}

impl Identity {
    /// Creates a random identity.
    ///
    /// # Errors
    /// [`NoEntropy`].
    pub fn generate() -> Result<Self, NoEntropy> {
        Ok(Self {
            format: FORMAT,
            client_id: format!("Client_Id_{}", random_ids::hex()?),
            client_secret: format!("Client_Secret_{}{}", random_ids::hex()?, random_ids::hex()?),
            pix_key: random_ids::evp()?,
        })
    }
}

/// The reason a state file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system returned an error.
    #[error("cannot use the state file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: io::Error,
    },
    /// Another process uses the file.
    #[error("the state file {0} is in use by another process")]
    InUse(PathBuf),
    /// A complete line is not valid JSON, or does not have the expected fields.
    #[error("line {line} of the state file {path} cannot be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The error.
        #[source]
        source: serde_json::Error,
    },
    /// A line contradicts earlier lines.
    #[error("line {line} of the state file {path} contradicts the lines before it")]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The contradiction.
        #[source]
        source: Inconsistent,
    },
    /// The file has another format.
    #[error("the state file {path} has format {found}, this version reads format {FORMAT}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: u32,
    },
    /// No random bytes for new credentials.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// The place in which each change is recorded before it takes effect.
#[derive(Debug)]
pub enum Journal {
    /// No place: changes are not recorded, and the state is lost when the process ends.
    Memory,
    /// The state file.
    File(JournalFile),
    /// The simulator was stopped; changes are refused.
    Closed,
}

/// An open state file.
#[derive(Debug)]
pub struct JournalFile {
    file: File,
    /// The length of the file's whole lines, in bytes.
    length: u64,
    /// A buffer for the next line.
    line: Vec<u8>,
    /// A lock that keeps other processes from the file. The operating system releases the lock even if the process is killed.
    _lock: File,
}

impl Journal {
    /// Records one change. The caller applies the change only if this succeeds.
    ///
    /// # Errors
    /// The error of the file system; the file is then cut after its last whole line. Also an error if the simulator was stopped.
    pub fn append(&mut self, change: &Change) -> io::Result<()> {
        match self {
            Self::Memory => Ok(()),
            Self::File(file) => file.append(change),
            Self::Closed => Err(io::Error::other("the simulator was stopped")),
        }
    }
}

impl JournalFile {
    fn append(&mut self, change: &Change) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, change)?;
        self.line.push(b'\n');
        if let Err(error) = self.file.write_all(&self.line) {
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += u64::try_from(self.line.len()).unwrap_or_default();
        Ok(())
    }
}

/// Opens or creates a state file. An existing file is replayed without an incomplete last line, and is then replaced by a snapshot.
///
/// # Errors
/// [`JournalError`].
pub fn open(path: &Path) -> Result<(Journal, Identity, Books), JournalError> {
    let io_error = |source| JournalError::Io { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io_error)?;
    }
    let lock = private(OpenOptions::new().write(true).create(true).truncate(false))
        .open(sibling(path, ".lock"))
        .map_err(io_error)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Err(JournalError::InUse(path.to_owned())),
        Err(fs::TryLockError::Error(source)) => return Err(io_error(source)),
    }
    let (identity, books) = match fs::read(path) {
        Ok(content) => replay(path, &content)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Identity::generate()?, Books::default()),
        Err(error) => return Err(io_error(error)),
    };
    compact(path, &identity, &books).map_err(io_error)?;
    let file = OpenOptions::new().append(true).open(path).map_err(io_error)?;
    let length = file.metadata().map_err(io_error)?.len();
    let file = JournalFile { file, length, line: Vec::new(), _lock: lock };
    Ok((Journal::File(file), identity, books))
}

fn replay(path: &Path, content: &[u8]) -> Result<(Identity, Books), JournalError> {
    let unreadable = |line, source| JournalError::Unreadable { path: path.to_owned(), line, source };
    let (whole, torn) = match content.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => content.split_at(end + 1),
        None => (&[][..], content),
    };
    if !torn.is_empty() {
        tracing::warn!(
            path = %path.display(),
            bytes = torn.len(),
            "incomplete last line of the state file dropped; its change is lost"
        );
    }
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n').enumerate();
    let header = lines.next().map_or(&[][..], |(_, line)| line);
    let identity: Identity = serde_json::from_slice(header).map_err(|source| unreadable(1, source))?;
    if identity.format != FORMAT {
        return Err(JournalError::Format { path: path.to_owned(), found: identity.format });
    }
    let mut books = Books::default();
    for (index, line) in lines {
        let number = index + 1;
        let change = serde_json::from_slice(line).map_err(|source| unreadable(number, source))?;
        books.apply(change).map_err(|source| JournalError::Contradiction {
            path: path.to_owned(),
            line: number,
            source,
        })?;
    }
    Ok((identity, books))
}

/// Replaces the file by a snapshot of `books`. The snapshot is written to a second file, which is then renamed. So a kill leaves either the
/// old file or the new file complete.
fn compact(path: &Path, identity: &Identity, books: &Books) -> io::Result<()> {
    let beside = sibling(path, ".new");
    let mut writer = BufWriter::new(private(OpenOptions::new().write(true).create(true).truncate(true)).open(&beside)?);
    serde_json::to_writer(&mut writer, identity)?;
    writer.write_all(b"\n")?;
    for change in books.snapshot() {
        serde_json::to_writer(&mut writer, &change)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside, path)
}

/// Restricts the access to a new file to its owner, because the state file contains the client secret.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

//! The master key: parsed from a text, read from the data directory, or created in the data directory.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use cais_domain::hex;
use cais_ports::KeyedHash as _;
use ring::rand::{SecureRandom, SystemRandom};

use crate::keyed_hash::HmacSha256;

/// The name of the key file in the data directory. The file is used if the configuration contains no master key.
pub const MASTER_KEY_FILE: &str = "master.key";

/// A key with fewer distinct bytes is weak. A random key has about 30. The probability of fewer than 16 is
/// below 10^-16.
const MIN_DISTINCT_BYTES: usize = 16;

/// 32 secret bytes. Every keyed hash and every stored secret depends on them.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey(pub(crate) [u8; 32]);

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MasterKey(***)")
    }
}

/// The reason why no master key is available.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// The file cannot be read or created.
    #[error("the master key in {file} cannot be used")]
    File {
        /// The path of the file.
        file: String,
        /// The error of the file system.
        #[source]
        source: io::Error,
    },
    /// The file contains no master key.
    #[error(
        "{0} does not contain a master key of 32 bytes in hex or base64; without the right key no API key is valid"
    )]
    Damaged(String),
    /// The system provides no random bytes.
    #[error("the system provides no secure random bytes for a master key")]
    NoEntropy,
}

impl MasterKey {
    /// Parses 32 bytes in hex or base64. Base64 may be standard or URL-safe, with or without padding. Returns `None`
    /// for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = if text.len() == 64 { hex::decode(text)? } else { decode_base64(text)? };
        bytes.try_into().ok().map(Self)
    }

    /// Returns `true` if all bytes are equal. Such a key is a placeholder, not a random key.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.distinct_bytes() == 1
    }

    /// Returns `true` if the key has too few distinct bytes to be random.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.distinct_bytes() < MIN_DISTINCT_BYTES
    }

    /// Returns the check value of the key, in hex. The database stores the value, so that a start with another key is
    /// detected. The key cannot be derived from the value.
    #[must_use]
    pub fn check_value(&self) -> String {
        hex::encode(HmacSha256::new(self).hash("master-key-check", b"cais").0)
    }

    fn distinct_bytes(&self) -> usize {
        self.0.iter().collect::<BTreeSet<_>>().len()
    }

    /// Returns the key of a data directory. Returns `None` if the key file does not exist.
    ///
    /// # Errors
    /// [`MasterKeyError`].
    pub fn find(data_dir: &Path) -> Result<Option<Self>, MasterKeyError> {
        let path = data_dir.join(MASTER_KEY_FILE);
        let file = path.display().to_string();
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(text.trim()).ok_or(MasterKeyError::Damaged(file)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(MasterKeyError::File { file, source }),
        }
    }

    /// Creates the key file of a data directory with mode 0600. If the file exists, returns its key. Two processes that
    /// create the key at the same time receive the same key.
    ///
    /// # Errors
    /// [`MasterKeyError`].
    pub fn create(data_dir: &Path) -> Result<Self, MasterKeyError> {
        let path = data_dir.join(MASTER_KEY_FILE);
        let file = path.display().to_string();
        let failed = |source| MasterKeyError::File { file: file.clone(), source };
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| MasterKeyError::NoEntropy)?;
        let mut tag = [0; 8];
        SystemRandom::new().fill(&mut tag).map_err(|_| MasterKeyError::NoEntropy)?;
        publish(&path, &hex::encode(bytes), &hex::encode(tag)).map_err(failed)?;
        // The key is read from the file, because another process may have created it first.
        let text = fs::read_to_string(&path).map_err(failed)?;
        Self::parse(text.trim()).ok_or(MasterKeyError::Damaged(file))
    }
}

/// Writes `text` to `path` atomically, unless the file exists. `tag` makes the draft's file name unique to this writer.
fn publish(path: &Path, text: &str, tag: &str) -> io::Result<()> {
    let draft = path.with_extension(format!("key.{tag}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // The directory is synchronized before the key is used. Otherwise a power failure could lose the file after hashes
    // under the key were stored.
    if let Some(folder) = path.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|engine| engine.decode(text).ok())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn master_keys_are_32_bytes_in_hex_or_base64() {
        let key = MasterKey((0..32).collect::<Vec<u8>>().try_into().unwrap());
        let in_hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        assert_eq!(MasterKey::parse(in_hex), Some(key.clone()));
        assert_eq!(MasterKey::parse(&in_hex.to_uppercase()), Some(key.clone()));
        assert_eq!(MasterKey::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), Some(key));
        for wrong in ["", "hush", "AAEC", &"zz".repeat(32), &"ab".repeat(31)] {
            assert_eq!(MasterKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn concurrent_creations_result_in_one_private_key_file() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<MasterKey> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| MasterKey::create(folder.path()).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.windows(2).all(|pair| pair.first() == pair.last()));
        let mode = fs::metadata(folder.path().join(MASTER_KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn damaged_key_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MASTER_KEY_FILE), "half").unwrap();
        assert!(matches!(MasterKey::create(folder.path()), Err(MasterKeyError::Damaged(_))));
        assert!(matches!(MasterKey::find(folder.path()), Err(MasterKeyError::Damaged(_))));
        assert_eq!(fs::read_to_string(folder.path().join(MASTER_KEY_FILE)).unwrap(), "half");
    }
}

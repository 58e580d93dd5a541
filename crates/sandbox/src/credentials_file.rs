//! The file with the credentials of a running simulator, for other processes on this machine. The file is readable only
//! by its owner.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::Credentials;
use serde_json::{Value, json};

/// The name of the file in its folder, which is the data directory of the service.
const FILE: &str = "sandbox.json";

/// Writes the credentials atomically.
///
/// # Errors
/// The file cannot be written.
pub fn write(folder: &Path, credentials: &Credentials) -> io::Result<()> {
    let draft = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let content = json!({
        "base_url": credentials.base_url,
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "pix_key": credentials.pix_key,
    });
    file.write_all(format!("{content}\n").as_bytes())?;
    drop(file);
    fs::rename(draft, folder.join(FILE))
}

/// Returns the credentials from the file in `folder`; `None` if the file is absent or not valid.
#[must_use]
pub fn read(folder: &Path) -> Option<Credentials> {
    let content: Value = serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()?;
    let text = |name: &str| content.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Credentials {
        base_url: text("base_url")?,
        client_id: text("client_id")?,
        client_secret: text("client_secret")?,
        pix_key: text("pix_key")?,
    })
}

/// Removes the file, even if an earlier process wrote it. Errors are ignored.
pub fn clear(folder: &Path) {
    // At a start the file is usually absent. A file that stays does no harm: after the simulator ends, nothing listens at its address.
    let _ = fs::remove_file(folder.join(FILE));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn sandbox_file_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        let text = str::to_owned;
        let credentials = Credentials {
            base_url: text("http://127.0.0.1:1"),
            client_id: text("id"),
            client_secret: text("hush"),
            pix_key: text("key"),
        };
        write(folder.path(), &credentials).unwrap();
        assert_eq!(read(folder.path()), Some(credentials));
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(folder.path().join(FILE), "{}").unwrap();
        assert_eq!(read(folder.path()), None);
        clear(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

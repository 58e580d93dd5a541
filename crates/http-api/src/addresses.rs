//! The file with the addresses of a running service. With port 0 in the configuration, the system chooses the port at the start, so other
//! processes read the port here.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use serde_json::{Value, json};

/// The name of the file in the data directory.
const FILE: &str = "addresses.json";

/// Writes `{"listen", "admin"}` atomically. Other processes can connect once the file exists.
///
/// # Errors
/// The file cannot be written.
pub fn write(data_dir: &Path, listen: SocketAddr, admin: SocketAddr) -> io::Result<()> {
    let draft = data_dir.join(format!("{FILE}.{}", std::process::id()));
    let mut file = fs::File::create(&draft)?;
    file.write_all(content(listen, admin).as_bytes())?;
    drop(file);
    fs::rename(draft, data_dir.join(FILE))
}

/// Returns the API address of the service that uses this data directory; `None` without a valid file.
#[must_use]
pub fn read(data_dir: &Path) -> Option<SocketAddr> {
    field(data_dir, "listen")
}

/// Returns the admin address of the service that uses this data directory: the address of its metrics and probes. Returns `None` without a
/// valid file.
#[must_use]
pub fn read_admin(data_dir: &Path) -> Option<SocketAddr> {
    field(data_dir, "admin")
}

fn field(data_dir: &Path, name: &str) -> Option<SocketAddr> {
    let content: Value = serde_json::from_slice(&fs::read(data_dir.join(FILE)).ok()?).ok()?;
    content.get(name).and_then(Value::as_str)?.parse().ok()
}

/// Returns the address at which this machine reaches a service that listens on `listen`.
#[must_use]
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen {
        SocketAddr::V4(address) if address.ip().is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        SocketAddr::V4(_) | SocketAddr::V6(_) => listen.ip(),
    };
    SocketAddr::new(ip, listen.port())
}

/// Removes the file of an earlier run, so that no process uses the old addresses.
pub fn clear(data_dir: &Path) {
    // An error is ignored, because usually the file is absent. A file that cannot be removed stays only until the next `write` replaces it.
    let _ = fs::remove_file(data_dir.join(FILE));
}

/// Removes the file when the service ends, unless another service has written its own file meanwhile.
pub fn remove(data_dir: &Path, listen: SocketAddr, admin: SocketAddr) {
    let ours = content(listen, admin);
    if fs::read_to_string(data_dir.join(FILE)).is_ok_and(|text| text == ours) {
        clear(data_dir);
    }
}

fn content(listen: SocketAddr, admin: SocketAddr) -> String {
    format!("{}\n", json!({ "listen": listen.to_string(), "admin": admin.to_string() }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn address_file_is_written_read_and_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let (listen, admin) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        write(folder.path(), listen, admin).unwrap();
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text, "{\"admin\":\"127.0.0.1:2\",\"listen\":\"127.0.0.1:1\"}\n");
        assert_eq!(read(folder.path()), Some(listen));
        remove(folder.path(), admin, listen);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        remove(folder.path(), listen, admin);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(read(folder.path()), None);
    }

    #[test]
    fn unspecified_address_is_reached_on_loopback() {
        for (listen, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("10.0.0.1:80", "10.0.0.1:80"),
            ("[fd00::1]:80", "[fd00::1]:80"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()), expected.parse().unwrap(), "{listen}");
        }
    }
}

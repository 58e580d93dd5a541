//! The address of the store: the scheme of its URL selects the engine.

use std::fmt;
use std::path::PathBuf;

/// The address of a store.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Address);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// The path of a file, absolute or relative to the working directory.
    Sqlite(PathBuf),
    /// A URL in libpq's format (PostgreSQL manual, section 34.1.1.2).
    Postgres(String),
}

/// The reason why a text is not the address of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseUrlError {
    /// The scheme is unknown or missing.
    #[error("the database URL must begin with `sqlite:`, `postgres://` or `postgresql://`")]
    UnknownScheme,
    /// The path is empty or does not name a file.
    #[error("a SQLite URL is `sqlite:` and the path of a file")]
    NoFile,
}

impl DatabaseUrl {
    /// Parses `sqlite:PATH`, `postgres://…` or `postgresql://…`.
    ///
    /// # Errors
    /// [`DatabaseUrlError`]. The error never contains the URL, because a URL may contain a password.
    pub fn parse(text: &str) -> Result<Self, DatabaseUrlError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            // A memory database is refused, because each connection would open a separate store. A `file:` URI and parameters after `?`
            // could request one too.
            let names_a_file =
                !path.is_empty() && !path.starts_with(":memory:") && !path.starts_with("file:") && !path.contains('?');
            return if names_a_file {
                Ok(Self(Address::Sqlite(PathBuf::from(path))))
            } else {
                Err(DatabaseUrlError::NoFile)
            };
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self(Address::Postgres(text.to_owned())));
        }
        Err(DatabaseUrlError::UnknownScheme)
    }

    /// Returns whether the address is a SQLite file.
    #[must_use]
    pub const fn is_sqlite(&self) -> bool {
        matches!(self.0, Address::Sqlite(_))
    }

    /// Returns `true` if the database is on another machine and the connection may be unencrypted. Three values of `sslmode` require TLS
    /// (PostgreSQL manual, table 34.1). With any other value, libpq may connect without TLS.
    #[must_use]
    pub fn is_remote_without_tls(&self) -> bool {
        const ENCRYPTED: [&str; 3] = ["require", "verify-ca", "verify-full"];
        let Address::Postgres(url) = &self.0 else { return false };
        let (before, parameters) = url.split_once('?').unwrap_or((url, ""));
        let parameter = |wanted: &str| {
            parameters.split('&').filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == wanted)
        };
        let authority = before.split_once("://").map_or(before, |(_, rest)| rest).split('/').next().unwrap_or_default();
        let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
        let hosts = parameter("host").map_or(hosts, |(_, hosts)| hosts);
        let is_encrypted = parameter("sslmode").is_some_and(|(_, mode)| ENCRYPTED.contains(&mode));
        !is_encrypted && !hosts.split(',').all(is_local)
    }

    pub(crate) const fn address(&self) -> &Address {
        &self.0
    }

    /// Returns the text for the driver: the URL with its password, or the path of a SQLite file.
    pub(crate) fn expose(&self) -> &str {
        match &self.0 {
            Address::Sqlite(path) => path.to_str().unwrap_or_default(),
            Address::Postgres(url) => url,
        }
    }
}

/// Returns whether `host`, with or without a port, is this machine. An empty text or a path stands for a local socket.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_socket = name.is_empty() || name.starts_with('/') || name.to_ascii_lowercase().starts_with("%2f");
    is_socket || name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Displays the URL. Passwords are masked, both before the host and in the parameters.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
            Address::Postgres(url) => formatter.write_str(&masked(url)),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DatabaseUrl({self})")
    }
}

fn masked(url: &str) -> String {
    let (before, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = before.split_once("://").unwrap_or(("postgres", before));
    let shown = match rest.rsplit_once('@') {
        Some((user, host)) => {
            let name = user.split_once(':').map_or(user, |(name, _)| name);
            let mask = if user.contains(':') { ":***" } else { "" };
            format!("{scheme}://{name}{mask}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    };
    let parameters: Vec<String> = parameters
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}=***"),
            Some(_) | None => parameter.to_owned(),
        })
        .collect();
    if parameters.is_empty() { shown } else { format!("{shown}?{}", parameters.join("&")) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{DatabaseUrl, DatabaseUrlError};

    #[test]
    fn scheme_selects_the_engine() {
        assert!(DatabaseUrl::parse("sqlite:./data/cais.db").unwrap().is_sqlite());
        assert!(DatabaseUrl::parse("sqlite:///var/lib/cais.db").unwrap().is_sqlite());
        assert!(!DatabaseUrl::parse("postgres://localhost/cais").unwrap().is_sqlite());
        assert!(!DatabaseUrl::parse("postgresql://localhost/cais").unwrap().is_sqlite());
        for other in ["", "mysql://localhost/cais", "cais.db", "/var/lib/cais.db", "Postgres://x"] {
            assert_eq!(DatabaseUrl::parse(other), Err(DatabaseUrlError::UnknownScheme), "{other}");
        }
        for nothing in ["sqlite:", "sqlite::memory:", "sqlite:file:x?mode=memory"] {
            assert_eq!(DatabaseUrl::parse(nothing), Err(DatabaseUrlError::NoFile), "{nothing}");
        }
    }

    #[test]
    fn remote_database_without_tls_is_recognized() {
        for (url, expected) in [
            ("sqlite:./data/cais.db", false),
            ("postgres://localhost/cais", false),
            ("postgres://cais@127.0.0.1:5432/cais?sslmode=disable", false),
            ("postgres://[::1]:5432/cais", false),
            ("postgres:///cais?host=/var/run/postgresql", false),
            ("postgres://%2Fvar%2Frun/cais", false),
            ("postgres://cais:p@ss@db.example/cais", true),
            ("postgres://db.example/cais?sslmode=disable", true),
            ("postgres://db.example/cais?sslmode=prefer", true),
            ("postgres://127.0.0.1,db.example/cais", true),
            ("postgres:///cais?host=db.example", true),
            ("postgres://db.example/cais?sslmode=require", false),
            ("postgres://db.example/cais?connect_timeout=5&sslmode=verify-full", false),
        ] {
            assert_eq!(DatabaseUrl::parse(url).unwrap().is_remote_without_tls(), expected, "{url}");
        }
    }

    #[test]
    fn passwords_are_never_shown() {
        for url in [
            "postgres://cais:secret@db:5432/cais",
            "postgres://cais:sec@ret:secret@db/cais?sslmode=require",
            "postgres://db/cais?user=cais&password=secret&sslpassword=secret",
        ] {
            let url = DatabaseUrl::parse(url).unwrap();
            assert!(!format!("{url} {url:?}").contains("secret"), "{url}");
        }
        assert_eq!(
            DatabaseUrl::parse("postgres://cais@db/cais?a=1").unwrap().to_string(),
            "postgres://cais@db/cais?a=1"
        );
    }
}

//! The configuration: read once at the start, checked as a whole, with all mistakes reported.
//!
//! To add a key, add one line to [`Config`] or to one of its tables. The documentation of the line becomes the key's text in
//! `docs/CONFIGURATION.md`. Then run `cais config docs > docs/CONFIGURATION.md`.

mod acquirer_files;
mod acquirers;
mod crypto;
mod declare;
mod directory;
pub mod docs;
mod given;
mod installation;
mod log_format;
mod problem;
mod reader;
mod source;
mod url;
pub mod warnings;
mod world;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cais_persistence::{DatabaseUrl, DatabaseUrlError};
use cais_rate_limits::RedisUrl;
use cais_secrets::MasterKey;
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

pub use acquirer_files::FileState;
pub use acquirers::{AcquirerConfig, AcquirerKind, Operations, Pairs, SANDBOX, TokenBody, TokenCredentials};
pub use crypto::{CryptoSettings, NOWPAYMENTS, ProcessorConfig, ProcessorKind};
pub use installation::{InstallationError, compare_world};
pub use log_format::LogFormat;
pub use problem::{Problem, Problems};
pub use reader::Effective;
pub use reader::read_secret;
pub use source::Sources;
pub use world::World;

use declare::{Kind, blocks, flag, keys, masked_secret, number, secret, text};
use reader::Reader;

/// The key of the data directory.
const DATA_DIR: &str = "data_dir";
/// The file of the default database, in the data directory.
const DATABASE_FILE: &str = "cais.db";
/// The advice for a missing master key.
const MAKE_A_KEY: &str = "with PostgreSQL every node needs the same key; make one with `openssl rand -hex 32`";

keys! {
    /// Receivers of webhooks that are permitted for development.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct WebhookSettings {
        /// For development: permits webhook receivers over plain http. The scheme is checked at registration and at every attempt.
        allow_insecure: bool = flag().default("false");
        /// For development: permits webhook receivers at these addresses, although they are not public. Addresses are checked at
        /// registration and at every attempt.
        allow_addresses: Vec<IpNet> = blocks().default("").default_shown("none");
    }
}

keys! {
    /// A configuration without a mistake.
    #[derive(Debug, Clone)]
    pub struct Config {
        /// The address of the API. With port 0 the system assigns a free port, which is in `addresses.json` in the data
        /// directory. With port 0 and without `public_url`, the callback address at acquirers changes at each start:
        /// choose a port for production.
        listen: SocketAddr = address().default("127.0.0.1:8080");
        /// The address of `/metrics`, apart from the API. With port 0 the system assigns a free port. With the
        /// sandbox, or with `listen` at port 0, the service uses a free port if the default port is in use.
        /// `addresses.json` has the port.
        admin_listen: SocketAddr = address()
            .default("127.0.0.1:9180")
            .rejected_if(move |admin| Some(*admin) == listen && admin.port() != 0, "must differ from `listen`");
        /// The URL at which acquirers and browsers reach the service: the base of callback addresses, and the origin of
        /// the dashboard. The dashboard refuses forms of any other origin. With `https`, cookies are limited to TLS and
        /// have the prefix `__Host-`. Without the URL, and always in the sandbox, the origin of a form only has to match
        /// the `Host` of its request: use this for development only. Set an `https` URL for production.
        public_url: Option<String> =
            text("http or https URL", url::base).optional().default_shown("`http://` and the address of `listen`");
        /// The directory of the service's files. The directory is created if it does not exist.
        data_dir: PathBuf = text("directory", |text| Ok::<_, Infallible>(text.into())).default("./data");
        /// The database. The scheme selects the engine.
        database_url: DatabaseUrl =
            masked_secret("`sqlite:PATH` or `postgres://…`", DatabaseUrl::parse, DatabaseUrl::to_string)
                .default(default_database(data_dir.as_deref().unwrap_or(Path::new("."))))
                .default_shown("`sqlite:` the file `cais.db` in `data_dir`");
        /// PostgreSQL: with `true`, `cais serve` applies migrations at its start. With SQLite, `cais serve` always
        /// applies migrations at its start.
        migrate_on_start: bool = flag().default("false");
        /// PostgreSQL: the number of commit lanes. Each lane commits the changes of its accounts over its own
        /// connection. SQLite has one lane.
        commit_lanes: usize = number(1..=16)
            .default(if is_sqlite(database_url.as_ref()) { "1" } else { "2" })
            .default_shown("SQLite: 1, PostgreSQL: 2");
        /// The largest number of change sets in one transaction.
        commit_batch: usize = number(1..=256).default("256");
        /// The number of database connections for reads.
        read_connections: u32 = number(1..=64)
            .default(if is_sqlite(database_url.as_ref()) { "4" } else { "8" })
            .default_shown("SQLite: 4, PostgreSQL: 8");
        /// The key for hashes of API keys, for callback addresses, and for the encryption of webhook secrets. The
        /// database has a check value of the key, and a start with another key is refused. Without the key no API key
        /// is valid and no webhook is sent. Required with PostgreSQL, because every node needs the same key.
        master_key: Option<MasterKey> = secret("32 bytes in hex or base64", master_key)
            .optional()
            .required_if(!is_sqlite(database_url.as_ref()), MAKE_A_KEY)
            .default_shown("SQLite: generated at the first start, in `data_dir/master.key`");
        /// Requests per minute that one API key may make.
        rate_limit_per_minute: u32 = number(1..=1_000_000).default("600");
        /// A Redis server in which all nodes count requests together. Without Redis, and while Redis cannot be reached,
        /// each node counts for itself.
        redis_url: Option<RedisUrl> =
            secret("`redis://…`, or `rediss://…` for TLS", RedisUrl::parse).optional();
        /// Connections to the API that one address may have at a time. An IPv6 network of 64 bits counts as one
        /// address. Trusted proxies have no such limit.
        max_connections_per_address: u32 = number(1..=1_000_000).default("256");
        /// The proxies before the service. The header `X-Forwarded-For` is used only in requests of these proxies. The
        /// client's address is the right-most hop that is not in this list. Address lists of API keys, limits per
        /// address and log lines use the client's address.
        trusted_proxies: Vec<IpNet> = blocks().default("").default_shown("none");
        /// The number of threads that serve the API.
        workers: usize = number(1..=64).default("2");
        /// The filter of the log on standard error.
        log: String = text("filter such as `info` or `warn,cais=debug`", log_filter).default("info");
        /// The format of the log. `auto` is text on a terminal and JSON elsewhere.
        log_format: LogFormat = text("auto, text or json", LogFormat::parse).default("auto");
        /// For development: `true` uses the built-in sandbox instead of an acquirer, as does `cais serve --sandbox`.
        /// The sandbox's money is not real. So a database of the sandbox cannot be used with acquirers, and a database
        /// of acquirers cannot be used with the sandbox.
        sandbox: bool = flag().default("false");
        /// At shutdown `/readyz` answers 503 for this number of seconds before the service stops accepting connections, so
        /// that a load balancer sees the change.
        // The default is 5 seconds, because a load balancer that probes every two seconds then probes twice. With SQLite or the sandbox
        // there is no other node to which it could send requests, so the default is 0.
        drain_delay_s: u32 = number(0..=60)
            .default(if is_sqlite(database_url.as_ref()) || sandbox == Some(true) { "0" } else { "5" })
            .default_shown("5 with PostgreSQL and an acquirer, else 0");
        /// Permitted receivers of webhooks.
        webhooks: WebhookSettings = WebhookSettings::read;
        /// The acquirers sorted by name; empty with the sandbox.
        acquirers: Vec<AcquirerConfig> = acquirers::read;
        /// Crypto deposits and withdrawals.
        crypto: CryptoSettings = CryptoSettings::read;
        /// Every effective value, with secrets masked.
        effective: Vec<Effective> = |reader: &mut Reader, _path: &str| Some(reader.effective().to_vec());
    }
}

impl Config {
    /// Reads and checks all keys.
    ///
    /// # Errors
    /// [`Problems`]: every mistake at once.
    pub fn load(sources: &Sources) -> Result<Self, Problems> {
        let mut reader = Reader::new(sources.merge().map_err(|problem| Problems(vec![problem]))?);
        let config = Self::read(&mut reader, "");
        let is_sandbox = reader.effective().iter().any(|entry| entry.key == SANDBOX && entry.value == "true");
        if is_sandbox && !reader.names(acquirers::TABLE).is_empty() {
            reader.wrong(SANDBOX, "must not be true beside an acquirer: play money and real money never meet");
        }
        if is_sandbox && config.as_ref().is_some_and(|config| config.crypto.processor.is_some()) {
            reader.wrong(SANDBOX, "must not be true beside a crypto processor: play money and real money never meet");
        }
        let problems = reader.finish();
        if problems.0.is_empty() { config.ok_or(problems) } else { Err(problems) }
    }

    /// Returns the URL of the default database, an SQLite file in the data directory.
    ///
    /// # Errors
    /// The directory's path cannot be part of a database URL.
    pub fn default_database_url(&self) -> Result<DatabaseUrl, DatabaseUrlError> {
        DatabaseUrl::parse(&default_database(&self.data_dir))
    }

    /// Returns the file that holds the secret of this key; `None` for a secret that is set directly.
    #[must_use]
    pub fn secret_file(&self, key: &str) -> Option<&Path> {
        let key = format!("{key}{}", reader::FILE_SUFFIX);
        let entry = self.effective.iter().find(|entry| entry.key == key && !entry.value.is_empty())?;
        Some(Path::new(&entry.value))
    }

    /// Returns `true` if a source has a value for the key.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.effective.iter().any(|entry| entry.key == key && entry.origin != reader::DEFAULT)
    }

    /// Returns `true` if the service may use a free port instead of the default admin address, so that several services can run on a
    /// developer's machine.
    #[must_use]
    pub fn admin_may_move(&self) -> bool {
        !self.is_set("admin_listen") && (self.sandbox || self.listen.port() == 0)
    }
}

/// Returns the problem of the data directory. Returns `None` if the directory can be used. Also returns `None` if the key `data_dir` has no
/// valid value, which [`Config::load`] reports. The check leaves no file in the directory.
#[must_use]
pub fn data_dir_problem(sources: &Sources) -> Option<Problem> {
    let mut reader = Reader::new(sources.merge().ok()?);
    // The mistakes of other keys are ignored here, because `Config::load` reports them.
    let _config = Config::read(&mut reader, "");
    let entry = reader.effective().iter().find(|entry| entry.key == DATA_DIR)?;
    let what = directory::problem(Path::new(&entry.value))?;
    Some(Problem { key: entry.key.clone(), what, origin: entry.origin.clone() })
}

fn address() -> Kind<SocketAddr> {
    text("address and port", |text| text.parse().map_err(|_| "must be an address and port such as 127.0.0.1:8080"))
}

fn log_filter(text: &str) -> Result<String, &'static str> {
    EnvFilter::try_new(text).map_err(|_| "must be a filter such as `info` or `warn,cais=debug`")?;
    Ok(text.to_owned())
}

fn master_key(text: &str) -> Result<MasterKey, &'static str> {
    match MasterKey::parse(text) {
        None => Err("must be 32 bytes in hex (64 digits) or base64 (44 characters)"),
        Some(key) if key.is_uniform() => {
            Err("must be random, and all its bytes are equal: make one with `openssl rand -hex 32`")
        }
        Some(key) => Ok(key),
    }
}

/// Returns `true` for a SQLite URL, and also for an invalid URL, which is reported separately.
fn is_sqlite(url: Option<&DatabaseUrl>) -> bool {
    url.is_none_or(DatabaseUrl::is_sqlite)
}

fn default_database(data_dir: &Path) -> String {
    format!("sqlite:{}", data_dir.join(DATABASE_FILE).display())
}

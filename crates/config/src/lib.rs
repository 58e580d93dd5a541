//! The configuration: read once at the start, checked as a whole, with all mistakes reported.

mod acquirers;
mod directory;
pub mod docs;
pub mod keys;
mod log_format;
mod problem;
mod reader;
pub mod source;
mod url;
pub mod warnings;
mod world;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cais_persistence::{DatabaseUrl, DatabaseUrlError};
use cais_rate_limits::RedisUrl;
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

pub use acquirers::{AcquirerConfig, AcquirerKind, SANDBOX};
pub use log_format::LogFormat;
pub use problem::{Problem, Problems};
pub use reader::Effective;
use reader::Reader;
pub use source::Sources;
pub use world::World;

use cais_secrets::MasterKey;

/// Default address of the API.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// Default address of the metrics.
pub const DEFAULT_ADMIN_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9180);
/// Default notice for load balancers, in seconds. Most of them probe every two seconds, so two probes fit.
const DRAIN_DELAY_S: u32 = 5;
/// The key of the data directory.
const DATA_DIR: &str = "data_dir";
/// The file of the default database, in the data directory.
const DATABASE_FILE: &str = "cais.db";

/// The rule for an address, in messages.
const ADDRESS: &str = "an address and port such as 127.0.0.1:8080";

/// The form of a list of address blocks, for messages about a wrong one.
const CIDR_BLOCKS: &str = "CIDR blocks such as 10.0.0.0/8";

/// Settings of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreTuning {
    /// Groups of accounts that commit in parallel.
    pub lanes: usize,
    /// Largest number of changes in one commit.
    pub max_batch: usize,
    /// Connections that read.
    pub readers: u32,
}

/// Receivers of webhooks that are permitted for development.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookSettings {
    /// `true` permits plain http.
    pub allow_insecure: bool,
    /// Addresses that need not be public.
    pub allow_addresses: Vec<IpNet>,
}

/// A configuration without a mistake.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of the API.
    pub listen: SocketAddr,
    /// Address of the metrics. `None` is the default, which may give way to a free port if [`Config::admin_may_move`].
    pub admin_listen: Option<SocketAddr>,
    /// Base of the callback addresses, without a slash at the end.
    pub public_url: Option<String>,
    /// Directory of the service's files.
    pub data_dir: PathBuf,
    /// The database.
    pub database_url: DatabaseUrl,
    /// `true` if PostgreSQL is migrated at the start.
    pub migrate_on_start: bool,
    /// Settings of the store.
    pub store: StoreTuning,
    /// The master key; `None` is the file in the data directory.
    pub master_key: Option<MasterKey>,
    /// Requests per minute and key.
    pub rate_limit_per_minute: u32,
    /// The Redis server that counts the requests of all nodes.
    pub redis_url: Option<RedisUrl>,
    /// Limit of concurrent API connections per address.
    pub max_connections_per_address: u32,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Threads that serve the API.
    pub workers: usize,
    /// Seconds between the end of readiness and the end of listening.
    pub drain_delay_s: u32,
    /// Filter of the log.
    pub log: String,
    /// Format of the log.
    pub log_format: LogFormat,
    /// Permitted receivers of webhooks.
    pub webhooks: WebhookSettings,
    /// `true`: the built-in sandbox is the upstream.
    pub sandbox: bool,
    /// The acquirers sorted by name; empty with the sandbox.
    pub acquirers: Vec<AcquirerConfig>,
    /// Every effective value, with secrets masked.
    pub effective: Vec<Effective>,
}

impl Config {
    /// Reads and checks all keys.
    ///
    /// # Errors
    /// [`Problems`]: every mistake at once.
    pub fn load(sources: &Sources) -> Result<Self, Problems> {
        let mut reader = Reader::new(sources.merge().map_err(|problem| Problems(vec![problem]))?);
        let address = |text: &str| text.parse().ok();
        let listen: SocketAddr = reader.parsed("listen", DEFAULT_LISTEN, ADDRESS, address);
        let chosen = reader.is_set("admin_listen");
        let admin_listen: SocketAddr = reader.parsed("admin_listen", DEFAULT_ADMIN_LISTEN, ADDRESS, address);
        let admin_listen = chosen.then_some(admin_listen);
        if admin_listen == Some(listen) && listen.port() != 0 {
            reader.wrong("admin_listen", "must differ from `listen`");
        }
        let public_url = reader.optional("public_url", url::base);
        let data_dir = read_data_dir(&mut reader);
        let database_url = read_database_url(&mut reader, &data_dir);
        let migrate_on_start = reader.flag("migrate_on_start", false);
        let sqlite = database_url.as_ref().is_none_or(DatabaseUrl::is_sqlite);
        let store = StoreTuning {
            lanes: size(reader.number("commit_lanes", if sqlite { 1 } else { 2 }, 1..=16)),
            max_batch: size(reader.number("commit_batch", 256, 1..=256)),
            readers: reader.number("read_connections", if sqlite { 4 } else { 8 }, 1..=64),
        };
        let master_key = read_master_key(&mut reader, database_url.as_ref());
        let rate_limit_per_minute = reader.number("rate_limit_per_minute", 600, 1..=1_000_000);
        let redis_url = read_redis_url(&mut reader);
        let max_connections_per_address = reader.number("max_connections_per_address", 256, 1..=1_000_000);
        let trusted_proxies = reader.list("trusted_proxies", CIDR_BLOCKS, |text| text.parse().ok());
        let workers = size(reader.number("workers", 2, 1..=64));
        let log = reader.parsed("log", "info".to_owned(), "a filter such as `info` or `warn,cais=debug`", |text| {
            EnvFilter::try_new(text).is_ok().then(|| text.to_owned())
        });
        let log_format = reader.parsed("log_format", LogFormat::Auto, "auto, text or json", LogFormat::parse);
        let webhooks = WebhookSettings {
            allow_insecure: reader.flag("webhooks.allow_insecure", false),
            allow_addresses: reader.list("webhooks.allow_addresses", CIDR_BLOCKS, |text| text.parse().ok()),
        };
        let sandbox = reader.flag(SANDBOX, false);
        // A load balancer needs the delay only if other nodes take over.
        let drain_default = if sqlite || sandbox { 0 } else { DRAIN_DELAY_S };
        let drain_delay_s = reader.number("drain_delay_s", drain_default, 0..=60);
        let acquirers = acquirers::read(&mut reader);
        if sandbox && !reader.names("acquirers").is_empty() {
            reader.wrong(SANDBOX, "must not be true beside an acquirer: play money and real money never meet");
        }
        let effective = reader.finish()?;
        // `reader` has already noted the problem of a wrong URL, so an empty list is enough here.
        let database_url = database_url.ok_or_else(|| Problems(Vec::new()))?;
        Ok(Self {
            listen,
            admin_listen,
            public_url,
            data_dir,
            database_url,
            migrate_on_start,
            store,
            master_key,
            rate_limit_per_minute,
            redis_url,
            max_connections_per_address,
            trusted_proxies,
            workers,
            drain_delay_s,
            log,
            log_format,
            webhooks,
            sandbox,
            acquirers,
            effective,
        })
    }
}

impl Config {
    /// Returns the URL of the default database, an SQLite file in the data directory.
    ///
    /// # Errors
    /// The directory's path cannot be part of a database URL.
    pub fn default_database_url(&self) -> Result<DatabaseUrl, DatabaseUrlError> {
        DatabaseUrl::parse(&default_database(&self.data_dir))
    }

    /// Returns `true` if a source has a value for the key.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.effective.iter().any(|entry| entry.key == key && entry.origin != "default")
    }

    /// Returns `true` if the default admin address may give way to a free port, as with several services for
    /// development.
    #[must_use]
    pub const fn admin_may_move(&self) -> bool {
        self.admin_listen.is_none() && (self.sandbox || self.listen.port() == 0)
    }
}

/// Returns the problem of the data directory and creates no file in it. `None` also if the configuration cannot be
/// read.
#[must_use]
pub fn data_dir_problem(sources: &Sources) -> Option<Problem> {
    let mut reader = Reader::new(sources.merge().ok()?);
    let what = directory::problem(&read_data_dir(&mut reader))?;
    Some(Problem { key: DATA_DIR.to_owned(), what, origin: reader.origin(DATA_DIR) })
}

fn read_data_dir(reader: &mut Reader) -> PathBuf {
    PathBuf::from(reader.parsed(DATA_DIR, "./data".to_owned(), "a directory", |text| Some(text.to_owned())))
}

/// Fits wherever this program runs.
fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn default_database(data_dir: &Path) -> String {
    format!("sqlite:{}", data_dir.join(DATABASE_FILE).display())
}

fn read_database_url(reader: &mut Reader, data_dir: &Path) -> Option<DatabaseUrl> {
    const KEY: &str = "database_url";
    let given = reader.secret(KEY);
    if given.is_none() && reader.is_set(KEY) {
        return None;
    }
    let text = given.map_or_else(|| default_database(data_dir), |url| url.expose().to_owned());
    match DatabaseUrl::parse(&text) {
        Ok(url) => {
            reader.show_as(KEY, url.to_string());
            Some(url)
        }
        Err(error) => {
            reader.wrong(KEY, error.to_string());
            None
        }
    }
}

fn read_redis_url(reader: &mut Reader) -> Option<RedisUrl> {
    const KEY: &str = "redis_url";
    let given = reader.secret(KEY)?;
    RedisUrl::parse(given.expose()).map_err(|error| reader.wrong(KEY, error.to_string())).ok()
}

fn read_master_key(reader: &mut Reader, database_url: Option<&DatabaseUrl>) -> Option<MasterKey> {
    const KEY: &str = "master_key";
    let given = reader.secret(KEY);
    let key = given.as_ref().and_then(|text| MasterKey::parse(text.expose()));
    if given.is_some() && key.is_none() {
        reader.wrong(KEY, "must be 32 bytes in hex (64 digits) or base64 (44 characters)");
    }
    if key.as_ref().is_some_and(MasterKey::is_uniform) {
        reader.wrong(KEY, "must be random, and all its bytes are equal: make one with `openssl rand -hex 32`");
    }
    if !reader.is_set(KEY) && database_url.is_some_and(|url| !url.is_sqlite()) {
        reader.wrong(
            KEY,
            "is missing: with PostgreSQL every node must be given the same; make one with `openssl rand -hex 32`",
        );
    }
    key
}

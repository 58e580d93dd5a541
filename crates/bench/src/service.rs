//! The real service with its built-in sandbox, on a database of its own, and keys to call it with.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use cais_testkit::server::{self, Cais};
use serde_json::Value;

use crate::database::{Engine, Postgres};

/// Accounts that call, each with a key of its own.
const ACCOUNTS: usize = 16;
/// More than any load here reaches, so that the window counts but never refuses.
const RATE_LIMIT: &str = "1000000";
/// More connections than any load here opens.
const MAX_CONNECTIONS: &str = "1024";
/// A key that codes nothing worth hiding.
const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A service that runs for a measurement.
pub struct Service {
    cais: Cais,
    /// One key for each account.
    pub keys: Vec<String>,
    /// Where its data is.
    pub database: String,
}

impl Service {
    /// Makes a database, brings it up to date, opens the accounts, and starts.
    ///
    /// # Errors
    /// When one of these fails.
    pub async fn start(engine: Engine, server: Option<&Postgres>) -> Result<Self> {
        Self::start_with(engine, server, &[]).await
    }

    /// The same with more settings.
    ///
    /// # Errors
    /// When one of these fails.
    pub async fn start_with(engine: Engine, server: Option<&Postgres>, more: &[(String, String)]) -> Result<Self> {
        let mut service = Self::prepare_with(engine, server, more)?;
        service.launch().await?;
        Ok(service)
    }

    /// The same without the start.
    ///
    /// # Errors
    /// When one of these fails.
    pub fn prepare(engine: Engine, server: Option<&Postgres>) -> Result<Self> {
        Self::prepare_with(engine, server, &[])
    }

    fn prepare_with(engine: Engine, server: Option<&Postgres>, more: &[(String, String)]) -> Result<Self> {
        let mut settings = vec![
            ("CAIS_RATE_LIMIT_PER_MINUTE", RATE_LIMIT),
            // All callers have one address.
            ("CAIS_MAX_CONNECTIONS_PER_ADDRESS", MAX_CONNECTIONS),
            ("CAIS_MASTER_KEY", MASTER_KEY),
            ("CAIS_LOG", "warn"),
            // The receivers of webhooks are on this machine.
            ("CAIS_WEBHOOKS__ALLOW_INSECURE", "true"),
            ("CAIS_WEBHOOKS__ALLOW_ADDRESSES", "127.0.0.0/8"),
        ];
        settings.extend(more.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let url = match engine {
            Engine::Postgres => server.context("no server")?.fresh_database()?,
            Engine::Sqlite => String::new(),
        };
        if !url.is_empty() {
            settings.push(("CAIS_DATABASE_URL", &url));
        }
        // The kit's own server for tests has no fsync, so its database is never asked for.
        let cais = Cais::prepare(server::Engine::Sqlite, &settings)?;
        cais.cli(&["migrate"])?;
        let keys = (0..ACCOUNTS).map(|number| key(&cais, number)).collect::<Result<Vec<_>>>()?;
        let database = match engine {
            Engine::Postgres => url,
            Engine::Sqlite => format!("sqlite:{}", cais.data_dir().join("cais.db").display()),
        };
        Ok(Self { cais, keys, database })
    }

    /// Starts it.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn launch(&mut self) -> Result<()> {
        self.cais.launch().await
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Never while it runs.
    pub fn address(&self) -> Result<SocketAddr> {
        self.cais.base_url().trim_start_matches("http://").parse().context("the address of the service")
    }

    /// Its process.
    ///
    /// # Errors
    /// When it does not run.
    pub fn process_id(&self) -> Result<u32> {
        self.cais.process_id().context("the service does not run")
    }

    /// Ends it in order and starts it again; how long it took from the start of the process until it was ready.
    ///
    /// # Errors
    /// When it does not end or does not become ready.
    pub async fn restart(&mut self) -> Result<Duration> {
        self.cais.terminate()?;
        let began = Instant::now();
        self.cais.launch().await?;
        Ok(began.elapsed())
    }

    /// Ends it in order, which lets what is in flight end too.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&mut self) -> Result<()> {
        self.cais.terminate().map(drop)
    }

    /// Kills it, which lets nothing end, and lets its command line rebuild the ledger.
    ///
    /// # Errors
    /// When the ledger does not add up.
    pub fn kill_and_verify(&mut self) -> Result<()> {
        self.cais.kill9()?;
        self.cais.cli(&["ledger", "verify"]).map(drop)
    }

    /// Ends it in order and lets its command line rebuild the ledger.
    ///
    /// # Errors
    /// When it does not end, or the ledger does not add up.
    pub fn stop_and_verify(&mut self) -> Result<()> {
        self.cais.terminate()?;
        self.cais.cli(&["ledger", "verify"]).map(drop)
    }
}

/// The e-mail of an account, by the position of its key.
#[must_use]
pub fn email(number: usize) -> String {
    format!("shop{number}@bench.example")
}

fn key(cais: &Cais, number: usize) -> Result<String> {
    let email = email(number);
    let who = ["--email", &email, "--name", "Shop", "--document", "12345678909", "--approve"];
    cais.cli(&[&["account", "create"], &who[..]].concat())?;
    let made = cais.cli(&["key", "create", "--account", &email, "--name", "load", "--scopes", "all"])?;
    made.get("key").and_then(Value::as_str).map(str::to_owned).context("`key create` printed no key")
}

//! The real service with its built-in sandbox, on its own database, with API keys.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use cais_testkit::server::{self, Cais};
use serde_json::Value;

use crate::database::{Engine, Postgres};
use crate::http::{Connection, get};

/// The number of calling accounts. Each account has its own key.
const ACCOUNTS: usize = 16;
/// A rate limit above every load of this program. Requests are counted, but never refused.
const RATE_LIMIT: &str = "1000000";
/// A limit above the connections of every load of this program.
const MAX_CONNECTIONS: &str = "1024";
/// The service's master key, which protects no real data.
const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The time limit of [`Service::until_credited`].
const TIMEOUT: Duration = Duration::from_mins(2);
/// The pause between two reads of all balances.
const READ_EVERY: Duration = Duration::from_millis(50);

/// A running service.
pub struct Service {
    cais: Cais,
    /// The keys, one per account.
    pub keys: Vec<String>,
    /// The database's URL.
    pub database: String,
}

impl Service {
    /// Creates and migrates a database, opens the accounts, and starts the service.
    ///
    /// # Errors
    /// If a step fails.
    pub async fn start(engine: Engine, server: Option<&Postgres>) -> Result<Self> {
        Self::start_with(engine, server, &[]).await
    }

    /// Works like [`Service::start`], with additional settings.
    ///
    /// # Errors
    /// If a step fails.
    pub async fn start_with(engine: Engine, server: Option<&Postgres>, more: &[(String, String)]) -> Result<Self> {
        let mut service = Self::prepare_with(engine, server, more)?;
        service.launch().await?;
        Ok(service)
    }

    /// Prepares a service without starting it.
    ///
    /// # Errors
    /// If a step fails.
    pub fn prepare(engine: Engine, server: Option<&Postgres>) -> Result<Self> {
        Self::prepare_with(engine, server, &[])
    }

    fn prepare_with(engine: Engine, server: Option<&Postgres>, more: &[(String, String)]) -> Result<Self> {
        let mut settings = vec![
            ("CAIS_RATE_LIMIT_PER_MINUTE", RATE_LIMIT),
            // All callers have the same address.
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
        // `Engine::Sqlite` also for PostgreSQL, because the testkit's own PostgreSQL server has no fsync. The URL above
        // then replaces the SQLite file.
        let cais = Cais::prepare(server::Engine::Sqlite, &settings)?;
        cais.cli(&["migrate"])?;
        let keys = (0..ACCOUNTS).map(|number| key(&cais, number)).collect::<Result<Vec<_>>>()?;
        let database = match engine {
            Engine::Postgres => url,
            Engine::Sqlite => format!("sqlite:{}", cais.data_dir().join("cais.db").display()),
        };
        Ok(Self { cais, keys, database })
    }

    /// Starts the service.
    ///
    /// # Errors
    /// If the service does not become ready.
    pub async fn launch(&mut self) -> Result<()> {
        self.cais.launch().await
    }

    /// Returns the address.
    ///
    /// # Errors
    /// If the address cannot be parsed.
    pub fn address(&self) -> Result<SocketAddr> {
        self.cais.base_url().trim_start_matches("http://").parse().context("the address of the service")
    }

    /// Returns the process id.
    ///
    /// # Errors
    /// If the service does not run.
    pub fn process_id(&self) -> Result<u32> {
        self.cais.process_id().context("the service does not run")
    }

    /// Enables features of all accounts. `features` has their names, separated by commas.
    ///
    /// # Errors
    /// If a command fails.
    pub fn enable(&self, features: &str) -> Result<()> {
        for number in 0..ACCOUNTS {
            let account = email(number);
            self.cais.cli(&["account", "features", "--account", &account, "--enable", features])?;
        }
        Ok(())
    }

    /// Returns a one-time link to the dashboard for the holder of an account.
    ///
    /// # Errors
    /// If the command fails.
    pub fn login_link(&self, number: usize) -> Result<String> {
        let made = self.cais.cli(&["login-link", "--email", &email(number)])?;
        made.get("one_time_url").and_then(Value::as_str).map(str::to_owned).context("`login-link` printed no link")
    }

    /// Waits until the sum of the balances of all accounts reaches `centavos`.
    ///
    /// # Errors
    /// If a balance cannot be read, or the sum is not reached within the time limit.
    pub async fn until_credited(&self, centavos: u64) -> Result<()> {
        let began = Instant::now();
        loop {
            let credited = self.credited().await?;
            if credited >= centavos {
                return Ok(());
            }
            ensure!(began.elapsed() < TIMEOUT, "only {credited} centavos of {centavos} are credited");
            tokio::time::sleep(READ_EVERY).await;
        }
    }

    /// Returns the sum of the balances of all accounts, in centavos.
    ///
    /// # Errors
    /// If a balance cannot be read.
    pub async fn credited(&self) -> Result<u64> {
        let mut connection = Connection::open(self.address()?).await?;
        let mut centavos = 0_u64;
        for key in &self.keys {
            let answer = connection.ask(&get("/v1/balance", key)).await?;
            ensure!(answer.status == 200, "{}", String::from_utf8_lossy(answer.body));
            let balance: Value = serde_json::from_slice(answer.body)?;
            let total = balance.get("total_balance").context("no balance")?.to_string();
            let (reais, cents) = total.split_once('.').unwrap_or((&total, "0"));
            let cents: u64 = format!("{cents:0<2}").parse()?;
            centavos = centavos.saturating_add(reais.parse::<u64>()?.saturating_mul(100)).saturating_add(cents);
        }
        Ok(centavos)
    }

    /// Stops the service, which completes work in flight, and starts it again. Returns the time from the start of the
    /// process until the service is ready.
    ///
    /// # Errors
    /// If the service does not end or does not become ready.
    pub async fn restart(&mut self) -> Result<Duration> {
        self.cais.terminate()?;
        let began = Instant::now();
        self.cais.launch().await?;
        Ok(began.elapsed())
    }

    /// Stops the service, which completes work in flight.
    ///
    /// # Errors
    /// If the service does not end.
    pub fn stop(&mut self) -> Result<()> {
        self.cais.terminate().map(drop)
    }

    /// Kills the service. Then `cais ledger verify` compares each stored balance with the entries.
    ///
    /// # Errors
    /// If the process cannot be killed, or the ledger is inconsistent.
    pub fn kill_and_verify(&mut self) -> Result<()> {
        self.cais.kill9()?;
        self.cais.cli(&["ledger", "verify"]).map(drop)
    }

    /// Stops the service, which completes work in flight. Then `cais ledger verify` compares each stored balance with
    /// the entries.
    ///
    /// # Errors
    /// If the service does not end, or the ledger is inconsistent.
    pub fn stop_and_verify(&mut self) -> Result<()> {
        self.cais.terminate()?;
        self.cais.cli(&["ledger", "verify"]).map(drop)
    }
}

/// Returns the e-mail of the account whose key is at this position in [`Service::keys`].
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

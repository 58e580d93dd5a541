//! Implements [`CliContext`]: gives the commands access to the configuration, the adapters and the service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::bail;
use async_trait::async_trait;
use cais_cli::{
    Access, AcquirerTest, CliContext, ConfiguredAcquirer, Finding, Migrations, Opened, Options, Problem, Purpose,
    RunningSandbox, RunningService, Setting, Warning,
};
use cais_config::warnings::warnings;
use cais_config::{Config, CryptoSettings, Problems, Sources, WebhookSettings, data_dir_problem, docs};
use cais_domain::acquirer_name::AcquirerName;
use cais_http_api::addresses;
use cais_ports::Clock as _;
use jiff::Timestamp;
use serde_json::Value;

use crate::clock::OffsetClock;
use crate::serve::{Listeners, Service};
use crate::wiring::{self, Infrastructure};
use crate::{acquirer_trial, doctor, logging};

/// The log filter of commands that print on standard output.
const COMMAND_LOG: &str = "warn";
/// The log filter of the demonstration. The warnings about the demonstration's dispute are expected, so they are not logged.
const DEMO_LOG: &str = "warn,cais_use_cases::infractions=error";

/// The installation that the options and the environment of this process select.
pub struct AppContext {
    sources: Sources,
}

impl AppContext {
    /// Selects the installation. Reads no file yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let sources = Sources::of_process(options.config).without(&cais_cli::SECRET_VARIABLES);
        Self { sources: if options.sandbox { sources.with("sandbox", "true") } else { sources } }
    }

    /// Loads the configuration and starts the log. The log filter is the configured one, or `log` if none is configured.
    fn load(&self, log: &str) -> anyhow::Result<Config> {
        let config = Config::load(&self.sources)?;
        logging::start(if config.is_set("log") { &config.log } else { log }, config.log_format);
        Ok(config)
    }

    /// Returns the configuration of the demonstration: SQLite in the data directory and the sandbox, regardless of other settings. A later
    /// `cais serve --sandbox` with the default database has the account and money of the demonstration. The start rejects a data directory
    /// with real money.
    fn demo(&self) -> anyhow::Result<Config> {
        let config = self.load(DEMO_LOG)?;
        let database_url = config.default_database_url()?;
        // The demonstration's receiver of webhooks is on this machine and uses plain http.
        let webhooks =
            WebhookSettings { allow_insecure: true, allow_addresses: vec![IpAddr::from(Ipv4Addr::LOCALHOST).into()] };
        let (public_url, sandbox, acquirers) = (None, true, Vec::new());
        let crypto = CryptoSettings { processor: None, ..config.crypto };
        Ok(Config { public_url, database_url, webhooks, sandbox, acquirers, crypto, ..config })
    }
}

#[async_trait]
impl CliContext for AppContext {
    fn now(&self) -> Timestamp {
        OffsetClock::new().now()
    }

    fn check_configuration(&self) -> (Option<anyhow::Error>, Vec<Warning>) {
        let (mut problems, found) = match Config::load(&self.sources) {
            Ok(config) => {
                let mut found = warnings(&config);
                found.extend(wiring::certificate_warnings(&config, self.now()));
                (wiring::problems(&config), found)
            }
            Err(Problems(problems)) => (problems, Vec::new()),
        };
        problems.extend(data_dir_problem(&self.sources));
        problems.sort_by(|one, other| one.key.cmp(&other.key));
        let found = found.into_iter();
        let found = found.map(|warning| Warning { name: warning.name, key: warning.key, problem: warning.what });
        ((!problems.is_empty()).then(|| Problems(problems).into()), found.collect())
    }

    fn problems(&self, error: &anyhow::Error) -> Vec<Problem> {
        let problems = error.downcast_ref().map_or(&[][..], |Problems(problems)| problems);
        let problem = |problem: &cais_config::Problem| Problem {
            key: problem.key.clone(),
            problem: problem.what.clone(),
            origin: problem.origin.clone(),
        };
        problems.iter().map(problem).collect()
    }

    fn settings(&self) -> anyhow::Result<Vec<Setting>> {
        let setting =
            |cais_config::Effective { key, value, origin, is_literal, .. }| Setting { key, value, origin, is_literal };
        Ok(Config::load(&self.sources)?.effective.into_iter().map(setting).collect())
    }

    fn settings_page(&self) -> String {
        docs::markdown()
    }

    async fn examine(&self) -> Vec<Finding> {
        doctor::examine(&self.sources).await
    }

    fn migrate(&self) -> anyhow::Result<Vec<String>> {
        wiring::migrate(&self.load(COMMAND_LOG)?)
    }

    fn migrations(&self) -> anyhow::Result<Migrations> {
        wiring::migrations(&self.load(COMMAND_LOG)?)
    }

    fn acquirers(&self) -> anyhow::Result<Vec<ConfiguredAcquirer>> {
        Ok(wiring::acquirers_of(&self.load(COMMAND_LOG)?))
    }

    async fn test_acquirer(&self, name: &AcquirerName, test: &AcquirerTest) -> anyhow::Result<(Value, bool)> {
        acquirer_trial::run(&self.load(COMMAND_LOG)?, name, test).await
    }

    fn metrics_address(&self) -> anyhow::Result<Option<SocketAddr>> {
        Ok(addresses::read_admin(&self.load(COMMAND_LOG)?.data_dir).map(addresses::reachable))
    }

    fn service_address(&self) -> anyhow::Result<SocketAddr> {
        let config = self.load(COMMAND_LOG)?;
        Ok(addresses::reachable(addresses::read(&config.data_dir).unwrap_or(config.listen)))
    }

    fn public_url(&self) -> anyhow::Result<String> {
        let config = self.load(COMMAND_LOG)?;
        // With the sandbox the public URL does not apply, because the sandbox is on this machine.
        if let Some(url) = config.public_url.filter(|_| !config.sandbox) {
            return Ok(url);
        }
        let listen = addresses::read(&config.data_dir).unwrap_or(config.listen);
        Ok(format!("http://{}", addresses::reachable(listen)))
    }

    async fn open(&self, access: Access) -> anyhow::Result<Opened> {
        let config = self.load(COMMAND_LOG)?;
        if access != Access::Created {
            must_exist(&config)?;
        }
        if access == Access::Acquirers {
            return wiring::open_with_acquirers(&config).await;
        }
        let infrastructure = Infrastructure::open(&config).await?;
        let ports = infrastructure.ports(wiring::router(Vec::new(), &config), None);
        Ok(Opened { ports, close: Box::pin(infrastructure.close()) })
    }

    async fn start(&self, purpose: Purpose) -> anyhow::Result<Box<dyn RunningService>> {
        let (config, listeners) = match purpose {
            Purpose::Serve => {
                let config = Config::load(&self.sources)?;
                logging::start(&config.log, config.log_format);
                let listeners = Listeners::bind(&config)?;
                (config, listeners)
            }
            Purpose::Demo => {
                let config = self.demo()?;
                let listeners = Listeners::bind_or_free(&config)?;
                (config, listeners)
            }
        };
        Ok(Box::new(Service::start(config, listeners).await?))
    }

    async fn start_sandbox(&self, listen: SocketAddr, state_file: Option<PathBuf>) -> anyhow::Result<RunningSandbox> {
        wiring::sandbox::start_alone(&self.load(COMMAND_LOG)?, listen, state_file).await
    }
}

/// For SQLite, requires that the database file exists. Otherwise a mistyped path would create an empty store with a new
/// master key.
fn must_exist(config: &Config) -> anyhow::Result<()> {
    let url = config.database_url.to_string();
    match url.strip_prefix("sqlite:").filter(|path| !Path::new(path).exists()) {
        Some(path) => bail!(
            "there is no database at {path}: `cais serve`, `cais migrate` and `cais account create` create one; otherwise check `data_dir` and `database_url`"
        ),
        None => Ok(()),
    }
}

//! The interface through which the command line opens, starts and examines an installation. The binary implements this interface.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::pix_key::PixKey;
use cais_use_cases::Ports;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use crate::finding::Finding;

/// The options that select an installation.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The configuration file of `--config`.
    pub config: Option<PathBuf>,
    /// `true` selects the built-in sandbox, like the setting `sandbox = true`.
    pub sandbox: bool,
}

/// The parts of an installation that a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The store, which must exist. So a mistyped path does not create an empty store with a new master key.
    Existing,
    /// The store, which is created if it does not exist.
    Created,
    /// The acquirers, the crypto processor, and the store, which must exist.
    Acquirers,
}

/// The reason to start the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `cais serve`: the configured service.
    Serve,
    /// `cais demo`: SQLite in the data directory and the built-in sandbox, on free ports if the configured ones are in
    /// use.
    Demo,
}

/// A mistake in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The configuration key, such as `acquirers.main.base_url`.
    pub key: String,
    /// The rule that the value breaks.
    pub problem: String,
    /// The origin of the value: a file, an environment variable, `command line`, or `not set`.
    pub origin: String,
}

/// A probable slip: a setting that works but is probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The stable name, such as `secret_file_readable`.
    pub name: &'static str,
    /// The configuration key.
    pub key: String,
    /// The risk and its remedy.
    pub problem: String,
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The configuration key.
    pub key: String,
    /// The value, or a mask in place of a secret; empty without a value.
    pub value: String,
    /// The origin of the value: a file, an environment variable, `command line` or `default`.
    pub origin: String,
    /// `true` for a number or a boolean; `false` for a text, even if it looks like a number.
    pub is_literal: bool,
}

/// An acquirer of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredAcquirer {
    /// The name.
    pub name: AcquirerName,
    /// The interface: `bacen`, `efi`, `woovi` or `sandbox`.
    pub kind: &'static str,
    /// `charges` and `payouts`, if the acquirer receives such new orders; `infractions`, if the acquirer reports infractions.
    pub operations: Vec<&'static str>,
    /// The priority for new orders; the lowest number is first. Acquirers with `None` come after all others, ordered by name.
    pub order: Option<u32>,
    /// The share of new orders among acquirers with the same priority: with weights 3 and 1, the first receives three of four orders.
    /// Without a priority the weight has no effect.
    pub weight: u32,
    /// The expiry of the client certificate, or the reason why it cannot be read; `None` without a certificate.
    pub certificate: Option<Result<Timestamp, String>>,
}

/// The options of a test of an acquirer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcquirerTest {
    /// A received Pix, of which one centavo is refunded.
    pub paid: Option<EndToEndId>,
    /// The key that receives a payout of one centavo.
    pub payout_to: Option<PixKey>,
}

/// The migrations of a database by their state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrations {
    /// The migrations that have run.
    pub applied: Vec<String>,
    /// The migrations that have not run.
    pub pending: Vec<String>,
    /// Migrations that have run and that this version does not contain.
    pub unknown: Vec<String>,
}

/// An open installation.
pub struct Opened {
    /// The ports of the use cases.
    pub ports: Ports,
    /// Closes the installation.
    pub close: BoxFuture<'static, ()>,
}

impl Opened {
    /// Runs `work`, and then closes the installation, even after a failure.
    ///
    /// # Errors
    /// The error of `work`.
    pub async fn run<T>(self, work: impl AsyncFnOnce(&Ports) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let Self { ports, close } = self;
        let result = work(&ports).await;
        drop(ports);
        close.await;
        result
    }
}

/// The simulated institution and crypto processor of `cais sandbox`.
pub struct RunningSandbox {
    /// The names and values of the settings that a client needs, in the order of the output.
    pub credentials: Vec<(&'static str, String)>,
    /// Stops the institution and the crypto processor.
    pub stop: BoxFuture<'static, ()>,
}

/// A service that runs.
#[async_trait]
pub trait RunningService: Send {
    /// Returns the address of the API.
    fn listen(&self) -> SocketAddr;
    /// Returns the directory of the service's files.
    fn data_dir(&self) -> &Path;
    /// Returns the ports of the use cases.
    fn ports(&self) -> &Ports;
    /// Waits until a part ends unexpectedly, and returns the error.
    async fn failed(&mut self) -> anyhow::Error;
    /// Stops all parts in order, without losing acknowledged work.
    async fn stop(self: Box<Self>);
}

/// An installation as its configuration describes it. Each method reads the configuration when it is called.
#[async_trait]
pub trait CliContext: Send + Sync {
    /// Returns the time of this machine.
    fn now(&self) -> Timestamp;

    /// Returns all mistakes of the configuration as one error, or `None` without a mistake. Also returns the probable slips; none if the
    /// configuration cannot be loaded.
    fn check_configuration(&self) -> (Option<anyhow::Error>, Vec<Warning>);

    /// Returns the mistakes in the configuration that an error lists; none for any other error.
    fn problems(&self, error: &anyhow::Error) -> Vec<Problem>;

    /// Returns every setting in force.
    ///
    /// # Errors
    /// The mistakes of the configuration.
    fn settings(&self) -> anyhow::Result<Vec<Setting>>;

    /// Returns the page that documents every key.
    fn settings_page(&self) -> String;

    /// Checks the installation and changes nothing.
    async fn examine(&self) -> Vec<Finding>;

    /// Returns the acquirers of the configuration, sorted by [`ConfiguredAcquirer::order`].
    ///
    /// # Errors
    /// The mistakes of the configuration.
    fn acquirers(&self) -> anyhow::Result<Vec<ConfiguredAcquirer>>;

    /// Tests an acquirer against the Central Bank's API Pix. Returns the report as JSON, and `true` if no answer diverged.
    ///
    /// # Errors
    /// The configuration has mistakes or no such acquirer, or the acquirer has the kind `woovi`.
    async fn test_acquirer(&self, name: &AcquirerName, test: &AcquirerTest) -> anyhow::Result<(Value, bool)>;

    /// Returns the address of the metrics, as the running service has stored it in the data directory. Returns `None` if no address is
    /// stored. After a crash, the stored address is out of date.
    ///
    /// # Errors
    /// The mistakes of the configuration.
    fn metrics_address(&self) -> anyhow::Result<Option<SocketAddr>>;

    /// Runs the pending migrations, and returns their names. Blocks.
    ///
    /// # Errors
    /// The configuration has mistakes, or the database cannot be migrated.
    fn migrate(&self) -> anyhow::Result<Vec<String>>;

    /// Returns the state of the migrations. Blocks.
    ///
    /// # Errors
    /// The configuration has mistakes, or the database cannot be read.
    fn migrations(&self) -> anyhow::Result<Migrations>;

    /// Returns the address at which this machine reaches the service.
    ///
    /// # Errors
    /// The mistakes of the configuration.
    fn service_address(&self) -> anyhow::Result<SocketAddr>;

    /// Returns the address at which browsers reach the service, without a slash at its end.
    ///
    /// # Errors
    /// The mistakes of the configuration.
    fn public_url(&self) -> anyhow::Result<String>;

    /// Opens the installation for one command, also beside a running service.
    ///
    /// # Errors
    /// The configuration has mistakes, or the database, the master key or an acquirer cannot be used.
    async fn open(&self, access: Access) -> anyhow::Result<Opened>;

    /// Starts the service. When this method returns, the API answers.
    ///
    /// # Errors
    /// The configuration has mistakes, or an address, the database, the master key or an acquirer cannot be used.
    async fn start(&self, purpose: Purpose) -> anyhow::Result<Box<dyn RunningService>>;

    /// Starts only the simulated institution and crypto processor. Without `state_file`, their state is stored in the data directory.
    ///
    /// # Errors
    /// The configuration has mistakes, or the address or the state file cannot be used.
    async fn start_sandbox(&self, listen: SocketAddr, state_file: Option<PathBuf>) -> anyhow::Result<RunningSandbox>;
}

//! Connects concrete adapters to the ports. No other module names them.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use cais_acquirers::{BacenAcquirer, BacenConfig, Certificate, EfiAcquirer, Router};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::pix_key::PixKey;
use cais_persistence::{Persistence, StoreConfig, migrations};
use cais_ports::{Acquirer, Acquirers, DeliveryQueue, IdGenerator, KeyedHash, RateLimits, WebhookSender};
use cais_rate_limits::{ANSWERS_WITHIN, MinuteWindows, SharedWindows};
use cais_sandbox::{Credentials, JournalError, Sandbox, SandboxConfig, SandboxError};
use cais_use_cases::Ports;
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::upstream::UpstreamLimits;
use cais_webhooks::{HttpSender, WebhookPolicy};
use jiff::Timestamp;

use crate::clock::OffsetClock;
use crate::config::{AcquirerConfig, AcquirerKind, Config, Problem, Problems, SANDBOX, World};
use crate::ids::UuidV7;
use crate::installation;
use crate::measured::{MeasuredQueue, MeasuredSender};
use crate::sandbox_file;
use cais_http_api::representation::JsonRepresentation;
use cais_secrets::Aes256GcmCipher;
use cais_secrets::HmacSha256;

/// The sandbox's own file in the data directory.
const SANDBOX_FILE: &str = "sandbox.journal";

/// The parts that every command needs: clock, identifiers, secrets, store.
pub struct Foundation {
    /// The service's clock.
    pub clock: Arc<OffsetClock>,
    /// Hashes under the master key.
    pub keyed_hash: Arc<dyn KeyedHash>,
    ids: Arc<dyn IdGenerator>,
    deliveries: Arc<dyn DeliveryQueue>,
    webhooks: Arc<dyn WebhookSender>,
    persistence: Persistence,
}

impl Foundation {
    /// Opens the store with a current schema. SQLite is always migrated, PostgreSQL if the configuration permits.
    ///
    /// # Errors
    /// A problem of the data directory, the master key or the database.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        make_data_dir(config)?;
        prepare_schema(config).await?;
        let clock = Arc::new(OffsetClock::new());
        let ids: Arc<dyn IdGenerator> = Arc::new(UuidV7::new(clock.clone()));
        let store = StoreConfig {
            read_connections: config.store.readers,
            lanes: config.store.lanes,
            max_batch: config.store.max_batch,
            ..StoreConfig::new(config.database_url.clone())
        };
        let shared = Arc::clone(&ids);
        let opened = tokio::task::spawn_blocking(move || Persistence::open(&store, &shared));
        let persistence = opened.await??;
        let master = match installation::master_key(config, &persistence).await {
            Ok(key) => key,
            Err(error) => {
                persistence.close().await;
                return Err(error.into());
            }
        };
        let deliveries = Arc::new(MeasuredQueue::new(Arc::new(persistence.clone())));
        let webhooks = webhook_sender(config)?;
        Ok(Self { clock, keyed_hash: Arc::new(HmacSha256::new(&master)), ids, deliveries, webhooks, persistence })
    }

    /// Checks that the database belongs to the configured world; the first check records the world.
    ///
    /// # Errors
    /// The database belongs to the other world, or cannot be read.
    pub async fn confirm_world(&self, world: World) -> anyhow::Result<()> {
        Ok(installation::confirm_world(&self.persistence, world).await?)
    }

    /// Returns the ports with these acquirers.
    #[must_use]
    pub fn ports(&self, acquirers: Arc<dyn Acquirers>) -> Ports {
        Ports {
            store: Arc::new(self.persistence.clone()),
            queries: Arc::new(self.persistence.clone()),
            maintenance: Arc::new(self.persistence.clone()),
            acquirers,
            clock: self.clock.clone(),
            ids: Arc::clone(&self.ids),
            keyed_hash: Arc::clone(&self.keyed_hash),
            representation: Arc::new(JsonRepresentation::new()),
            deliveries: Arc::clone(&self.deliveries),
            webhooks: Arc::clone(&self.webhooks),
            secret_cipher: Arc::new(Aes256GcmCipher::new(Arc::clone(&self.keyed_hash))),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        }
    }

    /// Returns the ports for commands that need no acquirer.
    #[must_use]
    pub fn ports_without_acquirers(&self) -> Ports {
        self.ports(router(Vec::new()))
    }

    /// Commits the queue and closes the database.
    pub async fn close(self) {
        self.persistence.close().await;
    }
}

/// Creates the sender of webhooks, limited to the receivers that the configuration permits.
///
/// # Errors
/// The HTTP client cannot be created.
fn webhook_sender(config: &Config) -> anyhow::Result<Arc<dyn WebhookSender>> {
    let policy = WebhookPolicy {
        allow_insecure: config.webhooks.allow_insecure,
        allow_addresses: config.webhooks.allow_addresses.clone(),
    };
    let sender = HttpSender::new(policy).context("webhooks cannot be sent")?;
    Ok(Arc::new(MeasuredSender::new(Arc::new(sender))))
}

/// Creates the data directory with access for its owner only.
///
/// # Errors
/// The directory cannot be created.
pub fn make_data_dir(config: &Config) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&config.data_dir)
        .with_context(|| format!("the data directory {} cannot be made", config.data_dir.display()))
}

/// Returns the path of the sandbox's state file and creates its directory.
///
/// # Errors
/// The directory cannot be created.
pub fn sandbox_state_file(config: &Config) -> anyhow::Result<PathBuf> {
    make_data_dir(config)?;
    Ok(config.data_dir.join(SANDBOX_FILE))
}

/// Creates every configured acquirer without a request to it.
///
/// # Errors
/// [`Problems`]: all problems of their certificates and addresses.
pub fn configured_acquirers(config: &Config) -> Result<Vec<Arc<dyn Acquirer>>, Problems> {
    let mut problems = Vec::new();
    let mut acquirers: Vec<Arc<dyn Acquirer>> = Vec::new();
    for settings in &config.acquirers {
        match configured_acquirer(settings) {
            Ok(acquirer) => acquirers.push(acquirer),
            Err(error) => problems.extend(problems_of_files(settings, &error)),
        }
    }
    if problems.is_empty() { Ok(acquirers) } else { Err(Problems(problems)) }
}

/// Returns all problems of the files. An error covers only one file, so each is tried without the other.
fn problems_of_files(settings: &AcquirerConfig, error: &anyhow::Error) -> Vec<Problem> {
    let table = format!("acquirers.{}", settings.name);
    let bare = AcquirerConfig { certificate_file: None, ca_file: None, ..settings.clone() };
    let certificate = AcquirerConfig { certificate_file: settings.certificate_file.clone(), ..bare.clone() };
    let authority = AcquirerConfig { ca_file: settings.ca_file.clone(), ..bare.clone() };
    let mut problems = Vec::new();
    if configured_acquirer(&bare).is_ok() {
        for (key, file, alone) in
            [("certificate_file", &settings.certificate_file, certificate), ("ca_file", &settings.ca_file, authority)]
        {
            if let (Some(file), Err(error)) = (file, configured_acquirer(&alone)) {
                let what = crate::logging::chain(error.as_ref());
                problems.push(Problem { key: format!("{table}.{key}"), what, origin: file.display().to_string() });
            }
        }
    }
    if problems.is_empty() {
        let what = crate::logging::chain(error.as_ref());
        problems.push(Problem { key: table, what, origin: "its certificates and addresses".to_owned() });
    }
    problems
}

fn configured_acquirer(settings: &AcquirerConfig) -> anyhow::Result<Arc<dyn Acquirer>> {
    let config = bacen_config(settings)?;
    Ok(match settings.kind {
        AcquirerKind::Bacen => Arc::new(BacenAcquirer::new(&config)?),
        AcquirerKind::Efi => Arc::new(EfiAcquirer::new(&config)?),
    })
}

/// Requests an access token of an acquirer and discards it. Returns the acquirer's clock if the answer has a `Date`.
///
/// # Errors
/// The configuration cannot be used, or the acquirer issues no token.
pub async fn check_access(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    let config = bacen_config(settings)?;
    Ok(match settings.kind {
        AcquirerKind::Bacen => BacenAcquirer::new(&config)?.check_access().await?,
        AcquirerKind::Efi => EfiAcquirer::new(&config)?.check_access().await?,
    })
}

/// Returns the instant at which the client certificate of an acquirer expires; `None` without a configured certificate.
///
/// # Errors
/// The file has no such certificate.
pub fn certificate_expires_at(settings: &AcquirerConfig) -> anyhow::Result<Option<Timestamp>> {
    Ok(bacen_config(settings)?.certificate.map(|certificate| certificate.expires_at()).transpose()?)
}

fn bacen_config(settings: &AcquirerConfig) -> anyhow::Result<BacenConfig> {
    let read = |file: &PathBuf| fs::read(file).with_context(|| format!("{} cannot be read", file.display()));
    let certificate = settings.certificate_file.as_ref().map(read).transpose()?;
    Ok(BacenConfig {
        token_url: settings.token_url.clone(),
        certificate: certificate.map(|bytes| Certificate::new(bytes, settings.certificate_passphrase.clone())),
        extra_root_pem: settings.ca_file.as_ref().map(read).transpose()?,
        ..BacenConfig::new(
            settings.name.clone(),
            settings.base_url.clone(),
            settings.client_id.clone(),
            settings.client_secret.clone(),
            settings.pix_key.clone(),
        )
    })
}

/// Returns the acquirers sorted by name, with a record of the ones that respond.
#[must_use]
pub fn router(acquirers: Vec<Arc<dyn Acquirer>>) -> Arc<dyn Acquirers> {
    cais_acquirers::trace::set_source(cais_http_api::trace::current);
    Arc::new(Router::new(acquirers))
}

/// Creates the rate limits of keys: shared by all nodes with the same Redis, else of this node.
#[must_use]
pub fn rate_limits(config: &Config) -> Arc<dyn RateLimits> {
    let limit = config.rate_limit_per_minute;
    match config.redis_url.clone() {
        Some(url) => Arc::new(SharedWindows::start(url, limit, ANSWERS_WITHIN)),
        None => Arc::new(MinuteWindows::new(limit)),
    }
}

/// Starts the built-in sandbox on a free port of this machine, with its file in the data directory.
///
/// # Errors
/// The sandbox cannot start.
pub async fn start_sandbox(config: &Config) -> anyhow::Result<Sandbox> {
    let state_file = Some(sandbox_state_file(config)?);
    let settings = SandboxConfig { state_file, refuses_when_down: true, ..SandboxConfig::default() };
    Sandbox::start(settings).await.context("the built-in sandbox does not start")
}

/// Returns the acquirers for a command that may run beside the service.
///
/// The built-in sandbox is that of the running service, if there is one. Otherwise it is started from its file and ends
/// when it is dropped.
///
/// # Errors
/// Wrong settings of the acquirers, or a sandbox that cannot start.
pub async fn acquirers_beside(config: &Config) -> anyhow::Result<(Vec<Arc<dyn Acquirer>>, Option<Sandbox>)> {
    if !config.sandbox {
        return Ok((configured_acquirers(config)?, None));
    }
    match start_sandbox(config).await {
        Ok(sandbox) => {
            let acquirer = sandbox_acquirer(sandbox.credentials())?;
            Ok((vec![acquirer], Some(sandbox)))
        }
        Err(error) if is_in_use(&error) => {
            let credentials = sandbox_file::read(&config.data_dir).ok_or(error)?;
            Ok((vec![sandbox_acquirer(credentials)?], None))
        }
        Err(error) => Err(error),
    }
}

/// Returns `true` if another process has locked the sandbox's file.
fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SandboxError::State(JournalError::InUse(_))))
}

/// Returns the acquirer of the built-in sandbox.
///
/// # Errors
/// The sandbox's credentials are invalid.
pub fn sandbox_acquirer(credentials: Credentials) -> anyhow::Result<Arc<dyn Acquirer>> {
    let config = BacenConfig::new(
        AcquirerName::parse(SANDBOX)?,
        credentials.base_url,
        credentials.client_id,
        cais_acquirers::Secret::new(credentials.client_secret),
        PixKey::parse(&credentials.pix_key)?,
    );
    Ok(Arc::new(EfiAcquirer::new(&config)?))
}

/// Returns the name of this process in the lease of a migration.
#[must_use]
pub fn migration_owner() -> String {
    format!("cais {}", std::process::id())
}

async fn prepare_schema(config: &Config) -> anyhow::Result<()> {
    let url = config.database_url.clone();
    if !url.is_sqlite() && !config.migrate_on_start {
        return Ok(());
    }
    // Each migration is logged by the code that runs it.
    tokio::task::spawn_blocking(move || migrations::migrate(&url, &migration_owner())).await??;
    Ok(())
}

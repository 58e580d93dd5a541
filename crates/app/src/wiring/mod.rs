//! Connects concrete adapters to the ports. Other modules of this crate use adapters only for checks, for the trial of an acquirer, and for
//! the upkeep of a running service.

mod acquirers;
pub mod crypto;
pub mod sandbox;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;

use anyhow::Context;
use cais_acquirers::{Route, Router};
use cais_cli::{Migrations, Opened};
use cais_config::{Config, Problem, Problems, World};
use cais_dashboard::{Checks, Dashboard, Downloads, Site};
use cais_http_api::resources::JsonRenderer;
use cais_http_api::{Pages, SandboxControls};
use cais_persistence::migrations::{self, Schema};
use cais_persistence::{Persistence, StoreConfig};
use cais_ports::{Acquirer, Acquirers, IdGenerator, KeyedHash, RateLimits, WebhookSender};
use cais_rate_limits::{ANSWERS_WITHIN, MinuteWindows, SharedWindows};
use cais_secrets::{Aes256GcmCipher, Argon2Passwords, HmacSha256, TotpCodes, UuidV7};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::crypto::CryptoSources;
use cais_use_cases::crypto::currency_cache::RecentCurrencies;
use cais_use_cases::daily_totals::DailyTotals;
use cais_use_cases::export_places::ExportPlaces;
use cais_use_cases::keys::KeyRing;
use cais_use_cases::logins::Logins;
use cais_use_cases::request_log::RequestLog;
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, SyncGate};
use cais_webhooks::{HttpSender, WebhookPolicy};

pub use acquirers::{
    Access, acquirers_of, bacen_config, certificate_expires_at, certificate_warnings, check_access,
    configured_acquirer, configured_acquirers, efi,
};

use crate::clock::OffsetClock;
use crate::installation;

/// The parts that every command needs: clock, identifiers, secrets, store.
pub struct Infrastructure {
    /// The service's clock.
    pub clock: Arc<OffsetClock>,
    /// The hash function that uses the master key.
    pub keyed_hash: Arc<dyn KeyedHash>,
    ids: Arc<dyn IdGenerator>,
    webhooks: Arc<dyn WebhookSender>,
    persistence: Persistence,
}

impl Infrastructure {
    /// Opens the store, whose schema must be current. SQLite is always migrated; PostgreSQL is migrated only if the configuration permits
    /// it.
    ///
    /// # Errors
    /// A problem of the data directory, the master key or the database.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        make_data_dir(config)?;
        prepare_schema(config).await?;
        let clock = Arc::new(OffsetClock::new());
        let ids: Arc<dyn IdGenerator> = Arc::new(UuidV7::new(clock.clone()));
        let store = StoreConfig {
            read_connections: config.read_connections,
            lanes: config.commit_lanes,
            max_batch: config.commit_batch,
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
        let webhooks = webhook_sender(config)?;
        Ok(Self { clock, keyed_hash: Arc::new(HmacSha256::new(&master)), ids, webhooks, persistence })
    }

    /// Checks that the database belongs to the configured world (`sandbox` or `live`); the first check records the world.
    ///
    /// # Errors
    /// The database belongs to another world, or cannot be read.
    pub async fn confirm_world(&self, world: World) -> anyhow::Result<()> {
        Ok(installation::confirm_world(&self.persistence, world).await?)
    }

    /// Returns the ports with these acquirers and crypto sources.
    #[must_use]
    pub fn ports(&self, acquirers: Arc<dyn Acquirers>, crypto: Option<CryptoSources>) -> Ports {
        Ports {
            store: Arc::new(self.persistence.clone()),
            queries: Arc::new(self.persistence.clone()),
            maintenance: Arc::new(self.persistence.clone()),
            acquirers,
            crypto,
            clock: self.clock.clone(),
            ids: Arc::clone(&self.ids),
            keyed_hash: Arc::clone(&self.keyed_hash),
            representation: Arc::new(JsonRenderer::new()),
            deliveries: Arc::new(self.persistence.clone()),
            webhooks: Arc::clone(&self.webhooks),
            secret_cipher: Arc::new(Aes256GcmCipher::new(Arc::clone(&self.keyed_hash))),
            limits: UpstreamLimits::default(),
            open_callbacks: OpenCallbacks::default(),
        }
    }

    /// Commits the waiting change sets and closes the database.
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
    Ok(Arc::new(sender))
}

/// Returns the mistakes of a configuration that was loaded. Certificates are read too, so that all mistakes that would prevent `serve` are
/// listed. The database is not examined.
#[must_use]
pub fn problems(config: &Config) -> Vec<Problem> {
    let acquirers = configured_acquirers(config).err();
    let crypto = crypto::configured(config, None).err();
    let found = acquirers.into_iter().chain(crypto).flat_map(|Problems(problems)| problems);
    config.world().err().into_iter().chain(found).collect()
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

/// Returns the router of the acquirers with their configured routes. Also sets the source of the header `traceparent` of
/// requests to acquirers.
#[must_use]
pub fn router(acquirers: Vec<Arc<dyn Acquirer>>, config: &Config) -> Arc<Router> {
    cais_acquirers::trace::set_source(cais_http_api::trace::current);
    let route = |acquirer: &Arc<dyn Acquirer>| {
        let settings = config.acquirers.iter().find(|settings| settings.name == *acquirer.name());
        settings.map_or_else(Route::default, acquirers::route)
    };
    let routes = acquirers.into_iter().map(|acquirer| {
        let route = route(&acquirer);
        (acquirer, route)
    });
    Arc::new(Router::with_routes(routes.collect()))
}

/// Creates the dashboard for the public URL of the service. Without a public URL the dashboard is for development only.
///
/// # Errors
/// The public URL is invalid.
pub fn dashboard(
    ports: &Ports,
    (keys, requests, exports): (&KeyRing, &RequestLog, &ExportPlaces),
    syncs: &SyncGate,
    currencies: &RecentCurrencies,
    public_url: Option<&str>,
    sandbox: Option<&SandboxControls>,
) -> anyhow::Result<Pages> {
    let dashboard = Arc::new(Dashboard {
        logins: Logins::new(ports.clone(), Arc::new(Argon2Passwords::default()), Arc::new(TotpCodes)),
        keys: keys.clone(),
        syncs: syncs.clone(),
        currencies: currencies.clone(),
        requests: requests.clone(),
        totals: DailyTotals::default(),
        site: Site::new(public_url, sandbox.is_some()).context("`public_url` is no URL")?,
        sandbox_pay: sandbox.map(sandbox::payer),
        downloads: Downloads::new(exports.clone()),
        checks: Checks::default(),
    });
    Ok(Arc::new(move |config| cais_dashboard::configure(&dashboard, config)))
}

/// Creates the rate limits of API keys. With Redis all nodes share the limits. Without Redis each node has its own.
#[must_use]
pub fn rate_limits(config: &Config) -> Arc<dyn RateLimits> {
    let limit = config.rate_limit_per_minute;
    match config.redis_url.clone() {
        Some(url) => Arc::new(SharedWindows::start(url, limit, ANSWERS_WITHIN)),
        None => Arc::new(MinuteWindows::new(limit)),
    }
}

/// The acquirers and the crypto sources.
pub struct Upstream {
    /// The acquirers.
    pub acquirers: Vec<Arc<dyn Acquirer>>,
    /// The crypto processor and the source of rates. `None` if no processor is configured.
    pub crypto: Option<CryptoSources>,
}

/// Opens the store and the acquirers for one command, also beside a running service.
///
/// # Errors
/// Neither an acquirer nor the sandbox is configured, the database belongs to another world, or a part cannot be
/// opened.
pub async fn open_with_acquirers(config: &Config) -> anyhow::Result<Opened> {
    let world = config.world().map_err(|problem| Problems(vec![problem]))?;
    let infrastructure = Infrastructure::open(config).await?;
    infrastructure.confirm_world(world).await?;
    let (upstream, sandbox) = sandbox::beside(config).await?;
    let ports = infrastructure.ports(router(upstream.acquirers, config), upstream.crypto);
    let close = async move {
        infrastructure.close().await;
        if let Some(sandbox) = sandbox {
            sandbox.stop().await;
        }
    };
    Ok(Opened { ports, close: Box::pin(close) })
}

/// Runs the pending migrations, and returns their names. The call blocks.
///
/// # Errors
/// The data directory cannot be created, or the error of the database.
pub fn migrate(config: &Config) -> anyhow::Result<Vec<String>> {
    make_data_dir(config)?;
    // The name of this process in the lease of a migration.
    let owner = format!("cais {}", std::process::id());
    Ok(migrations::migrate(&config.database_url, &owner)?)
}

/// Returns the state of the migrations. The call blocks.
///
/// # Errors
/// The error of the database.
pub fn migrations(config: &Config) -> anyhow::Result<Migrations> {
    let Schema { applied, pending, unknown } = migrations::status(&config.database_url)?;
    Ok(Migrations { applied, pending, unknown })
}

async fn prepare_schema(config: &Config) -> anyhow::Result<()> {
    if config.database_url.is_sqlite() || config.migrate_on_start {
        let config = config.clone();
        tokio::task::spawn_blocking(move || migrate(&config)).await??;
    }
    Ok(())
}

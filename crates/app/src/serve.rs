//! The life of the service: start, serve, drain and close.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use anyhow::Context;
use async_trait::async_trait;
use cais_cli::RunningService;
use cais_config::warnings::{Warning, warnings};
use cais_config::{Config, Problems};
use cais_http_api::connections::raise_file_limit;
use cais_http_api::telemetry;
use cais_http_api::{
    AppState, AuthFailures, CallbackPaths, ConnectionLimits, Exports, RecentCurrencies, ServeOptions, Telemetry,
    WorkerWakeups, addresses, serve,
};
use cais_ports::{Clock as _, PageRequest};
use cais_sandbox::{Sandbox, credentials_file};
use cais_use_cases::Ports;
use cais_use_cases::export_places::ExportPlaces;
use cais_use_cases::keys::KeyRing;
use cais_use_cases::request_log::RequestLog;
use cais_use_cases::sync_gate::SyncGate;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::deliveries::Deliveries;
use crate::wiring::{self, Infrastructure, Upstream};
use crate::{acquirer_upkeep, callbacks, workers};

/// The seconds that requests in flight have after the HTTP servers begin to stop. Enough for a POST, which is answered within 10 s after
/// its body arrived.
const SHUTDOWN_S: u64 = 20;
/// Longest wait for the background loops to finish their pass.
const WORKER_STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The two bound listeners.
#[derive(Debug)]
pub struct Listeners {
    /// The API's listener.
    pub public: TcpListener,
    /// The listener of `/metrics`.
    pub admin: TcpListener,
}

impl Listeners {
    /// Binds both addresses of the configuration. If the admin address cannot be bound and [`Config::admin_may_move`] is true, a free port
    /// is used for it.
    ///
    /// # Errors
    /// The address that cannot be bound, and the reason.
    pub fn bind(config: &Config) -> anyhow::Result<Self> {
        let bind_admin = if config.admin_may_move() { bind_or_free } else { bind };
        Ok(Self { public: bind("listen", config.listen)?, admin: bind_admin("admin_listen", config.admin_listen)? })
    }

    /// Binds both addresses of the configuration. If an address cannot be bound, a free port of the same host is used instead.
    ///
    /// # Errors
    /// The host on which no port can be bound, and the reason.
    pub fn bind_or_free(config: &Config) -> anyhow::Result<Self> {
        let admin = bind_or_free("admin_listen", config.admin_listen)?;
        Ok(Self { public: bind_or_free("listen", config.listen)?, admin })
    }
}

fn bind(key: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen on {address} ({key})"))
}

/// Binds an address. If that fails, binds a free port of the same host, and logs a warning.
fn bind_or_free(key: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).or_else(|error| {
        tracing::warn!(key, %address, %error, "address not available; a free port is used instead");
        bind(key, SocketAddr::new(address.ip(), 0))
    })
}

/// All parts of a running service: the HTTP servers, the background loops, the webhooks and the built-in sandbox.
pub struct Service {
    config: Config,
    listen: SocketAddr,
    admin: SocketAddr,
    ports: Ports,
    infrastructure: Infrastructure,
    sandbox: Option<Sandbox>,
    draining: Arc<AtomicBool>,
    servers: Vec<ServerHandle>,
    serving: JoinSet<std::io::Result<()>>,
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
    deliveries: Deliveries,
    registrations: JoinSet<()>,
    upkeep_of_acquirers: JoinSet<()>,
    upkeep: JoinHandle<()>,
}

/// Logs the probable mistakes of the configuration. Probable mistakes do not prevent the start.
fn log_warnings(config: &Config, now: jiff::Timestamp) {
    let expiring = wiring::certificate_warnings(config, now);
    for Warning { name, key, what } in warnings(config).into_iter().chain(expiring) {
        tracing::warn!(
            warning = name,
            key,
            problem = what,
            "configuration has a probable mistake; the start continues"
        );
    }
}

fn connection_limits(config: &Config) -> ConnectionLimits {
    ConnectionLimits {
        connections: raise_file_limit(),
        per_address: config.max_connections_per_address,
        ..ConnectionLimits::default()
    }
}

impl Service {
    /// Starts all parts. When this function returns, the API responds and `addresses.json` exists.
    ///
    /// # Errors
    /// A setting, a file, the database, the sandbox or the HTTP servers cannot be used.
    pub async fn start(config: Config, listeners: Listeners) -> anyhow::Result<Self> {
        let began = Instant::now();
        let world = config.world().map_err(|problem| Problems(vec![problem]))?;
        let configured = wiring::configured_acquirers(&config)?;
        // The crypto settings are checked first, so that a mistake ends the start before any file is created.
        let _without_callbacks = wiring::crypto::configured(&config, None)?;
        let (listen, admin) = (listeners.public.local_addr()?, listeners.admin.local_addr()?);
        let metrics_handle = telemetry::install()?;
        let infrastructure = Infrastructure::open(&config).await?;
        infrastructure.confirm_world(world).await?;
        // With the built-in sandbox the public URL does not apply, because the sandbox is on this machine.
        let public_url = config.public_url.clone().filter(|_| !config.sandbox);
        let base = public_url.unwrap_or_else(|| format!("http://{}", addresses::reachable(listen)));
        let (processor, crypto_token) = callbacks::of_crypto(infrastructure.keyed_hash.as_ref())?;
        let crypto_callbacks = Some(callbacks::url(&base, &processor, &crypto_token));
        let (sandbox, Upstream { acquirers, crypto }) = if config.sandbox {
            let sandbox = wiring::sandbox::start(&config).await?;
            let upstream = wiring::sandbox::upstream(sandbox.credentials(), &config, crypto_callbacks)?;
            credentials_file::write(&config.data_dir, &sandbox.credentials())
                .context("sandbox.json cannot be written")?;
            (Some(sandbox), upstream)
        } else {
            credentials_file::clear(&config.data_dir);
            let crypto = wiring::crypto::configured(&config, crypto_callbacks)?;
            (None, Upstream { acquirers: configured, crypto })
        };
        // If another service runs a sandbox in this data directory, this start has failed by now, and the other's file stays.
        addresses::clear(&config.data_dir);
        let router = wiring::router(acquirers.clone(), &config);
        let ports = infrastructure.ports(router.clone(), crypto);
        // The drains are read before the first request, so that a drained acquirer receives no new charge or payout
        // after a restart.
        acquirer_upkeep::refresh_drains(&ports, &router).await?;
        log_warnings(&config, infrastructure.clock.now());
        let (stop, stopped) = watch::channel(false);
        let draining = Arc::new(AtomicBool::new(false));
        let wakeups = WorkerWakeups::default();
        let tokens = callbacks::tokens(&config, &acquirers, infrastructure.keyed_hash.as_ref());
        let crypto_paths = ports.crypto.iter().map(|_| (processor.clone(), crypto_token.as_str()));
        let paths = tokens.iter().map(|(name, token)| (name.clone(), token.as_str())).chain(crypto_paths);
        let keys = KeyRing::new(ports.clone());
        let public_url = config.public_url.as_deref().filter(|_| !config.sandbox);
        let (syncs, currencies) = (SyncGate::new(), RecentCurrencies::default());
        let controls = sandbox.as_ref().zip(acquirers.first()).map(|(sandbox, acquirer)| {
            let name = acquirer.name().clone();
            wiring::sandbox::controls(sandbox.control(), name, Arc::clone(&infrastructure.clock))
        });
        let (requests, exports) = (RequestLog::default(), ExportPlaces::default());
        let usage = (keys.clone(), requests.clone());
        let shared = (&keys, &requests, &exports);
        let pages = wiring::dashboard(&ports, shared, &syncs, &currencies, public_url, controls.as_ref())?;
        let state = AppState {
            ports: ports.clone(),
            keys,
            rates: wiring::rate_limits(&config),
            failures: AuthFailures::default(),
            trusted_proxies: config.trusted_proxies.clone(),
            syncs,
            currencies,
            exports: Exports::new(exports),
            public_url: public_url.map(str::to_owned),
            sandbox: controls,
            callbacks: callbacks::restricted(CallbackPaths::new(paths), &config),
            wake: wakeups.clone(),
            metrics_handle: metrics_handle.clone(),
            draining: Arc::clone(&draining),
            telemetry: Telemetry::new(),
            requests,
            pages,
        };
        let limits = connection_limits(&config);
        let options = ServeOptions { workers: config.workers, shutdown_timeout_s: SHUTDOWN_S, limits };
        let servers = serve(Arc::new(state), listeners.public, listeners.admin, options)
            .context("the HTTP servers do not start")?;
        let handles = vec![servers.public.handle(), servers.admin.handle()];
        let mut serving = JoinSet::new();
        serving.spawn(servers.public);
        serving.spawn(servers.admin);
        let registrations = callbacks::register(&acquirers, &base, &tokens, &stopped);
        let loops = workers::start(&ports, &wakeups, &stopped, usage);
        let upkeep_of_acquirers = acquirer_upkeep::start(&ports, &router, &config, &stopped);
        let deliveries = Deliveries::start(&ports, &stopped);
        addresses::write(&config.data_dir, listen, admin).context("addresses.json cannot be written")?;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(%listen, %admin, sandbox = sandbox.is_some(), took_ms, "service started; the API answers");
        log_start_hints(&ports, addresses::reachable(listen)).await?;
        let upkeep = tokio::spawn(telemetry::upkeep(metrics_handle));
        Ok(Self {
            config,
            listen,
            admin,
            ports,
            infrastructure,
            sandbox,
            draining,
            servers: handles,
            serving,
            stop,
            loops,
            deliveries,
            registrations,
            upkeep_of_acquirers,
            upkeep,
        })
    }
}

#[async_trait]
impl RunningService for Service {
    fn listen(&self) -> SocketAddr {
        self.listen
    }

    fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    async fn failed(&mut self) -> anyhow::Error {
        match self.serving.join_next().await {
            Some(Ok(Err(error))) => anyhow::Error::new(error).context("an HTTP server ended"),
            Some(Err(error)) => anyhow::Error::new(error).context("an HTTP server ended"),
            Some(Ok(Ok(()))) | None => anyhow::anyhow!("an HTTP server ended"),
        }
    }

    /// Stops in this order: reports "not ready" for `drain_delay_s` seconds, accepts no new requests, answers the requests in flight,
    /// ends the background loops, finishes the webhooks in flight, empties the commit queue.
    async fn stop(mut self: Box<Self>) {
        self.draining.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(u64::from(self.config.drain_delay_s))).await;
        // Workers receive the stop signal first, so that they start no new work while the requests in flight finish.
        self.stop.send_replace(true);
        let stopped_at = tokio::time::Instant::now();
        futures_util::future::join_all(self.servers.iter().map(|server| server.stop(true))).await;
        while self.serving.join_next().await.is_some() {}
        self.registrations.shutdown().await;
        self.upkeep_of_acquirers.shutdown().await;
        let loops = async { while self.loops.join_next().await.is_some() {} };
        if tokio::time::timeout(WORKER_STOP_TIMEOUT, loops).await.is_err() {
            tracing::warn!("worker did not end within 10 s; its pass is repeated after the next start");
        }
        self.loops.shutdown().await;
        self.deliveries.drained(stopped_at).await;
        self.upkeep.abort();
        drop(self.ports);
        self.infrastructure.close().await;
        if let Some(sandbox) = self.sandbox {
            credentials_file::clear(&self.config.data_dir);
            sandbox.stop().await;
        }
        addresses::remove(&self.config.data_dir, self.listen, self.admin);
    }
}

/// Logs the addresses of the API documentation and of the dashboard. If no account exists, also logs the commands that
/// create an account and its key.
async fn log_start_hints(ports: &Ports, listen: SocketAddr) -> anyhow::Result<()> {
    tracing::info!(url = %format!("http://{listen}/docs"), "API documentation is served");
    tracing::info!(url = %format!("http://{listen}/"), "dashboard is served");
    let first = ports.queries.list_accounts(None, PageRequest { limit: 1, starting_after: None }).await?;
    if first.rows.is_empty() {
        tracing::info!(
            "no account yet: `cais account create --email E --name N --document CPF --approve`, then `cais key create`"
        );
    }
    Ok(())
}

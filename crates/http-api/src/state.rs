//! The state that handlers share, created once at the start of the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix_web::web::ServiceConfig;
use cais_ports::RateLimits;
use cais_use_cases::Ports;
use cais_use_cases::crypto::currency_cache::RecentCurrencies;
use cais_use_cases::keys::authenticate::KeyRing;
use cais_use_cases::request_log::RequestLog;
use cais_use_cases::sync_gate::SyncGate;
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Notify;

use super::auth_failures::AuthFailures;
use super::callbacks::CallbackPaths;
use super::csv::Exports;
use super::sandbox::SandboxControls;
use super::telemetry::Telemetry;

/// A function that adds the paths of the dashboard to the public address.
pub type Pages = Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>;

/// The state that handlers share. Each process has one, for all HTTP workers.
pub struct AppState {
    /// The ports of the use cases.
    pub ports: Ports,
    /// The API keys.
    pub keys: KeyRing,
    /// The rate limits of the API keys.
    pub rates: Arc<dyn RateLimits>,
    /// Failed authentications by address.
    pub failures: AuthFailures,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The instant of the last upstream fetch of each charge, payout, refund, crypto deposit and crypto withdrawal.
    pub syncs: SyncGate,
    /// The crypto currencies with their minimums, kept in memory for a few seconds.
    pub currencies: RecentCurrencies,
    /// The limits of unfinished CSV files and of their page reads.
    pub exports: Exports,
    /// The public address of the service, for links. With `None`, links have the host of the request (for development).
    pub public_url: Option<String>,
    /// The built-in sandbox, if it is the upstream.
    pub sandbox: Option<SandboxControls>,
    /// The secret callback path of each acquirer.
    pub callbacks: CallbackPaths,
    /// The signals that wake workers.
    pub wake: WorkerWakeups,
    /// Renders `/metrics`. The recorder of metrics must be installed before the first request, because the handle of each
    /// metric is looked up only once.
    pub metrics_handle: PrometheusHandle,
    /// `true` shortly before the process stops. `/readyz` then fails, so that load balancers use other nodes.
    pub draining: Arc<AtomicBool>,
    /// The metrics and log lines of requests.
    pub telemetry: Telemetry,
    /// The log of each account's requests, shown to the account's holder.
    pub requests: RequestLog,
    /// The paths of the dashboard.
    pub pages: Pages,
}

/// A signal that wakes a worker. Clones wake the same worker.
#[derive(Debug, Clone, Default)]
pub struct Wakeup(Arc<Notify>);

impl Wakeup {
    /// Wakes the worker. If no worker waits, the signal is stored for the next wait.
    pub fn notify(&self) {
        self.0.notify_one();
    }

    /// Waits for a notification.
    pub async fn notified(&self) {
        self.0.notified().await;
    }
}

/// The signals that notify workers of new work. Clones share the signals.
#[derive(Debug, Clone, Default)]
pub struct WorkerWakeups {
    /// Wakes the worker of callbacks.
    pub callbacks: Wakeup,
    /// Wakes the worker that alerts about the deadlines of infractions, after a tester moved the clock.
    pub deadlines: Wakeup,
}

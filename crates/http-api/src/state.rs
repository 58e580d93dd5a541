//! What handlers work with, filled once by the wiring.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cais_ports::RateLimits;
use cais_use_cases::Ports;
use cais_use_cases::keys::authenticate::KeyRing;
use cais_use_cases::sync_gate::SyncGate;
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Notify;

use super::auth_failures::AuthFailures;
use super::callbacks::CallbackPaths;
use super::csv::Exports;
use super::sandbox::SandboxControls;
use super::telemetry::Telemetry;

/// Everything that handlers need. One per process, shared by all HTTP workers.
pub struct AppState {
    /// The world as the use cases see it.
    pub ports: Ports,
    /// Who calls.
    pub keys: KeyRing,
    /// How often.
    pub rates: Arc<dyn RateLimits>,
    /// Failed authentication by address.
    pub failures: AuthFailures,
    /// Proxies whose `X-Forwarded-For` counts.
    pub trusted_proxies: Vec<IpNet>,
    /// When charges, payouts and refunds were last asked for upstream.
    pub syncs: SyncGate,
    /// The files that are being written.
    pub exports: Exports,
    /// The built-in sandbox, when it is the upstream.
    pub sandbox: Option<SandboxControls>,
    /// Where acquirers call back.
    pub callbacks: CallbackPaths,
    /// Wakes workers.
    pub wake: WorkerBells,
    /// Renders `/metrics`. The recorder must be installed before the first request: handles are looked up once.
    pub metrics_handle: PrometheusHandle,
    /// Set when the process is about to stop: `/readyz` says so, and load balancers go elsewhere.
    pub draining: Arc<AtomicBool>,
    /// Requests by route and status.
    pub telemetry: Telemetry,
}

/// Wakes one worker. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    /// Rings. A ring while nobody listens is kept for the next who does.
    pub fn ring(&self) {
        self.0.notify_one();
    }

    /// Waits until it rings.
    pub async fn rung(&self) {
        self.0.notified().await;
    }
}

/// Tells workers that there is something to do. Cloning shares the bells.
#[derive(Debug, Clone, Default)]
pub struct WorkerBells {
    /// Of the worker that looks into callbacks.
    pub notices: Bell,
    /// Of the worker that tells of deadlines: rung when a tester moved the clock.
    pub deadlines: Bell,
}

//! What handlers work with, filled once by the wiring.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cais_ports::RateLimits;
use cais_use_cases::Ports;
use cais_use_cases::keys::authenticate::KeyRing;
use cais_use_cases::sync_gate::SyncGate;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Notify;

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
    /// When charges, payouts and refunds were last asked for upstream.
    pub syncs: SyncGate,
    /// How many files may be written at the same time.
    pub exports: Exports,
    /// The built-in sandbox, when it is the upstream.
    pub sandbox: Option<SandboxControls>,
    /// Where acquirers call back.
    pub callbacks: CallbackPaths,
    /// Wakes the worker that looks into callbacks.
    pub wake: WorkerBell,
    /// Renders `/metrics`. The recorder must be installed before the first request: handles are looked up once.
    pub metrics_handle: PrometheusHandle,
    /// Set when the process is about to stop: `/readyz` says so, and load balancers go elsewhere.
    pub draining: Arc<AtomicBool>,
    /// Requests by route and status.
    pub telemetry: Telemetry,
}

/// Tells workers that there is something to do. Cloning shares the bell.
#[derive(Debug, Clone, Default)]
pub struct WorkerBell {
    notices: Arc<Notify>,
}

impl WorkerBell {
    /// A bell that nobody has rung.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rings for the worker that looks into callbacks. A ring while nobody listens is kept for the next who does.
    pub fn ring_notices(&self) {
        self.notices.notify_one();
    }

    /// Waits until the bell for callbacks rings.
    pub async fn notices(&self) {
        self.notices.notified().await;
    }
}

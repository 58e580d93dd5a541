//! Keeps the router of a running service up to date. A drained acquirer receives no new orders. A changed certificate or secret replaces
//! the client of its acquirer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cais_acquirers::Router;
use cais_config::{AcquirerConfig, Config, FileState};
use cais_domain::acquirer_name::AcquirerName;
use cais_http_api::telemetry::gauges;
use cais_ports::{QueryError, alerts};
use cais_use_cases::{Ports, acquirer_drain};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::logging::chain;
use crate::wiring;

/// The interval between reads of the drains, so that a drain takes effect on every node within seconds.
const DRAINS_EVERY: Duration = Duration::from_secs(2);
/// The interval between reads of certificates and secrets. A new file is rarely urgent.
const FILES_EVERY: Duration = Duration::from_secs(10);

/// Sets the drained acquirers of the router once.
///
/// # Errors
/// The drains cannot be read.
pub async fn refresh_drains(ports: &Ports, router: &Router) -> Result<(), QueryError> {
    let drained = acquirer_drain::drained(ports).await?;
    gauges::show_drains(&ports.acquirers.names(), &drained);
    router.set_drained(drained);
    Ok(())
}

/// Starts the loop that reads drains and files. The loop ends soon after `stop` turns true.
#[must_use]
pub fn start(ports: &Ports, router: &Arc<Router>, config: &Config, stop: &watch::Receiver<bool>) -> JoinSet<()> {
    let (ports, router, mut stop) = (ports.clone(), Arc::clone(router), stop.clone());
    let mut files = Files::new(config.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut read_at = Instant::now();
        while !*stop.borrow() {
            if let Err(error) = refresh_drains(&ports, &router).await {
                tracing::warn!(%error, "drains of acquirers could not be read; the last known ones stay in force");
            }
            if read_at.elapsed() >= FILES_EVERY {
                read_at = Instant::now();
                files.reload_changed(&router);
            }
            tokio::select! {
                () = tokio::time::sleep(DRAINS_EVERY) => {}
                // An error means that the sender was dropped because the service has ended.
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    });
    tasks
}

/// The files of all acquirers, as last read.
struct Files {
    config: Config,
    states: BTreeMap<AcquirerName, FileState>,
    /// The last problem of each acquirer's files, so that a problem is logged once.
    problems: BTreeMap<AcquirerName, String>,
}

impl Files {
    fn new(config: Config) -> Self {
        let mut states = BTreeMap::new();
        for settings in &config.acquirers {
            if let Ok((_, state)) = config.reread(settings) {
                states.insert(settings.name.clone(), state);
            }
            show_certificate(settings);
        }
        Self { config, states, problems: BTreeMap::new() }
    }

    /// Replaces the client of each acquirer whose files changed. If the new files are unusable, the previous client stays in use.
    fn reload_changed(&mut self, router: &Router) {
        for settings in &self.config.acquirers {
            let name = &settings.name;
            let reread = self.config.reread(settings).map_err(anyhow::Error::msg);
            let renewed = reread.and_then(|(settings, state)| {
                if self.states.get(name) == Some(&state) {
                    return Ok(None);
                }
                Ok(Some((wiring::configured_acquirer(&settings)?, settings, state)))
            });
            match renewed {
                // The files have the content that is in use. If they had a problem before, it has ended.
                Ok(None) => drop(self.problems.remove(name)),
                Ok(Some((client, settings, state))) => {
                    router.replace(&client);
                    self.states.insert(name.clone(), state);
                    self.problems.remove(name);
                    show_certificate(&settings);
                    tracing::info!(acquirer = %name, "certificate or secret of the acquirer changed; new calls use it");
                }
                Err(error) => {
                    let cause = chain(error.as_ref());
                    if self.problems.insert(name.clone(), cause.clone()).as_ref() != Some(&cause) {
                        tracing::warn!(
                            alert = alerts::ACQUIRER_FILES_UNUSABLE,
                            acquirer = %name,
                            cause,
                            "changed certificate or secret of the acquirer cannot be used; calls use the previous one"
                        );
                    }
                }
            }
        }
    }
}

/// Sets the gauge with the expiry of the client certificate. An unreadable certificate is skipped, because the start and the reload report
/// it.
fn show_certificate(settings: &AcquirerConfig) {
    if let Ok(Some(expires_at)) = wiring::certificate_expires_at(settings) {
        gauges::show_certificate(&settings.name, expires_at);
    }
}

//! Tells every acquirer where to call back, again and again until each has taken it.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, Mac};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::secrets::callback_token;

/// Time that one attempt may take.
const BUDGET: Duration = Duration::from_secs(10);
/// Pause after the first failure; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause: an acquirer that comes back is told within five minutes.
const MAX_PAUSE: Duration = Duration::from_mins(5);

/// Where that acquirer calls back: `{base}/callbacks/{acquirer}/{token}`.
#[must_use]
pub fn url(base: &str, acquirer: &AcquirerName, mac: &dyn Mac) -> String {
    format!("{base}/callbacks/{acquirer}/{}", callback_token(mac, acquirer))
}

/// Starts one task for each acquirer; each ends when the acquirer took the address, or soon after `stop` turns true.
#[must_use]
pub fn register(
    acquirers: &[Arc<dyn Acquirer>],
    base: &str,
    mac: &dyn Mac,
    stop: &watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for acquirer in acquirers {
        let url = url(base, acquirer.name(), mac);
        tasks.spawn(register_one(Arc::clone(acquirer), url, stop.clone()));
    }
    tasks
}

async fn register_one(acquirer: Arc<dyn Acquirer>, url: String, mut stop: watch::Receiver<bool>) {
    let mut pause = FIRST_PAUSE;
    let mut told: Option<AcquirerError> = None;
    loop {
        let attempt = tokio::select! {
            result = acquirer.register_callback(&url, BUDGET) => result,
            // An error means that the service is gone, which is a reason to end as well.
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match attempt {
            Ok(()) => {
                tracing::info!(acquirer = %acquirer.name(), "the acquirer knows where to call back");
                return;
            }
            Err(error) => {
                if told.as_ref() != Some(&error) {
                    tracing::warn!(acquirer = %acquirer.name(), %error, "the acquirer did not take the callback address; payments of pending charges are found by asking meanwhile");
                    told = Some(error);
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        pause = pause.saturating_mul(2).min(MAX_PAUSE);
    }
}

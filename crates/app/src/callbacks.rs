//! Tells every acquirer where to call back, again and again until each has taken it.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, KeyedHash, alerts};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::Config;
use cais_secrets::callback_token;

/// Time that one attempt may take.
const BUDGET: Duration = Duration::from_secs(10);
/// Pause after the first failure; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause: an acquirer that comes back is told within five minutes.
const MAX_PAUSE: Duration = Duration::from_mins(5);

/// Where that acquirer calls back: `{base}/callbacks/{acquirer}/{token}`.
#[must_use]
pub fn url(base: &str, acquirer: &AcquirerName, token: &str) -> String {
    format!("{base}/callbacks/{acquirer}/{token}")
}

/// The tokens that are accepted of each acquirer, the one that it is given first: its generation's, and the one before, with which
/// it calls until it has taken the new address.
#[must_use]
pub fn tokens(
    config: &Config,
    acquirers: &[Arc<dyn Acquirer>],
    keyed_hash: &dyn KeyedHash,
) -> Vec<(AcquirerName, String)> {
    let mut tokens = Vec::new();
    for acquirer in acquirers {
        let name = acquirer.name();
        let settings = config.acquirers.iter().find(|settings| settings.name == *name);
        let generation = settings.map_or(0, |settings| settings.callback_generation);
        for generation in [Some(generation), generation.checked_sub(1)].into_iter().flatten() {
            tokens.push((name.clone(), callback_token(keyed_hash, name, generation)));
        }
    }
    tokens
}

/// Starts one task for each acquirer; each ends when the acquirer took the address, or soon after `stop` turns true.
#[must_use]
pub fn register(
    acquirers: &[Arc<dyn Acquirer>],
    base: &str,
    tokens: &[(AcquirerName, String)],
    stop: &watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for acquirer in acquirers {
        let Some((_, token)) = tokens.iter().find(|(name, _)| name == acquirer.name()) else { continue };
        let url = url(base, acquirer.name(), token);
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
                    tracing::warn!(alert = alerts::CALLBACK_REGISTRATION_FAILED, acquirer = %acquirer.name(), %error, "callback address not registered at the acquirer; payments of pending charges are found by polling until it is");
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

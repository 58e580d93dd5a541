//! Registers the callback address at every acquirer, with retries until each has accepted it.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, KeyedHash, alerts};
use tokio::sync::watch;
use tokio::task::JoinSet;

use cais_config::{Config, NOWPAYMENTS};
use cais_http_api::CallbackPaths;
use cais_secrets::callback_token;

/// Time limit of one attempt to register an address.
const BUDGET: Duration = Duration::from_secs(10);
/// The pause after the first failure. The pause doubles with every further failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause. So the address is registered within five minutes after an acquirer has recovered.
const MAX_PAUSE: Duration = Duration::from_mins(5);

/// Returns the address for the callbacks of an acquirer: `{base}/callbacks/{acquirer}/{token}`.
#[must_use]
pub fn url(base: &str, acquirer: &AcquirerName, token: &str) -> String {
    format!("{base}/callbacks/{acquirer}/{token}")
}

/// Returns the accepted tokens of each acquirer. The address with the token of the configured `callback_generation` is registered. The
/// token of the previous generation is accepted too, because the acquirer uses the old address until the new one is registered.
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

/// Limits each callback path to the `callback_addresses` of its acquirer. Without such addresses, the path accepts every sender.
#[must_use]
pub fn restricted(paths: CallbackPaths, config: &Config) -> CallbackPaths {
    let networks = config.acquirers.iter();
    paths.only_from(networks.map(|settings| (settings.name.clone(), settings.callback_addresses.clone())))
}

/// Returns the name of the crypto processor and the token of its callbacks. Each order to the processor contains the callback address, so
/// the address is not registered.
///
/// # Errors
/// The fixed name of the processor is not valid. This does not happen: a test checks that the name is valid.
pub fn of_crypto(keyed_hash: &dyn KeyedHash) -> anyhow::Result<(AcquirerName, String)> {
    let name = AcquirerName::parse(NOWPAYMENTS)?;
    let token = callback_token(keyed_hash, &name, 0);
    Ok((name, token))
}

/// Starts one task per acquirer, which registers the callback address. A task ends when the address is registered, or soon after `stop`
/// turns true.
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
    let mut logged: Option<AcquirerError> = None;
    loop {
        let attempt = tokio::select! {
            result = acquirer.register_callback(&url, BUDGET) => result,
            // An error means that the sender was dropped because the service has ended.
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match attempt {
            Ok(()) => {
                tracing::info!(acquirer = %acquirer.name(), "callback address registered at the acquirer");
                return;
            }
            Err(error) => {
                if logged.as_ref() != Some(&error) {
                    tracing::warn!(alert = alerts::CALLBACK_REGISTRATION_FAILED, acquirer = %acquirer.name(), %error, "callback address not registered at the acquirer; until a retry succeeds, payments of pending charges are found by polling");
                    logged = Some(error);
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

//! Checks of the servers that the service calls: acquirers, the crypto processor, the source of rates, and Redis.

use cais_ports::Clock as _;
use jiff::Timestamp;

use crate::clock::OffsetClock;
use crate::logging::chain;
use crate::wiring::{self, Access};
use cais_cli::Finding;
use cais_config::{AcquirerConfig, AcquirerKind, Config};

/// Checks each acquirer. If a crypto processor is configured, checks it and the source of rates. If Redis is
/// configured, checks Redis.
pub async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if config.sandbox {
        findings.push(Finding::ok("acquirer", "the built-in sandbox starts with the service"));
    }
    for acquirer in &config.acquirers {
        findings.extend(certificate(acquirer, OffsetClock::new().now()));
        findings.extend(access(acquirer).await);
    }
    if let Some(processor) = &config.crypto.processor {
        findings.push(match wiring::crypto::check_processor(processor, OffsetClock::new().now()).await {
            Ok(()) => Finding::ok("crypto processor", "accepts the API key and the login"),
            Err(error) => {
                let advice = "see its base_url, api_key, email and password";
                Finding::failed("crypto processor", format!("{}: {advice}", chain(error.as_ref())))
            }
        });
        findings.push(match wiring::crypto::check_rates(&config.crypto, OffsetClock::new().now()).await {
            Ok(published_at) => Finding::ok("ptax", format!("the newest rate was published at {published_at:.0}")),
            Err(error) => {
                let advice = "see crypto.ptax.base_url; until it answers, no quotes are created";
                Finding::failed("ptax", format!("{}: {advice}", chain(error.as_ref())))
            }
        });
    }
    if let Some(redis) = &config.redis_url {
        findings.push(match redis.check().await {
            Ok(()) => Finding::ok("redis", "reachable"),
            Err(cause) => Finding::failed(
                "redis",
                format!("{cause}: see `redis_url`; until it answers, each node counts requests for itself"),
            ),
        });
    }
    findings
}

async fn access(acquirer: &AcquirerConfig) -> Vec<Finding> {
    let check = format!("acquirer {}", acquirer.name);
    match wiring::check_access(acquirer).await {
        Ok(Access { balance, clock }) => {
            let clock = clock.map(|at| Finding::of_clock(format!("{check} clock"), at, OffsetClock::new().now()));
            let missing = || Finding::ok(format!("{check} clock"), "the acquirer's answer has no date");
            let access = match balance {
                None => Finding::ok(check.clone(), "issues access tokens"),
                Some(Ok(balance)) => {
                    Finding::ok(check.clone(), format!("{} available, {} blocked", balance.available, balance.blocked))
                }
                Some(Err(error)) => {
                    let advice = "grant the application the scope gn.balance.read";
                    Finding::warning(
                        check.clone(),
                        format!("issues access tokens, but its balance cannot be read: {error}: {advice}"),
                    )
                }
            };
            vec![access, clock.unwrap_or_else(missing)]
        }
        Err(error) => {
            let advice = match acquirer.kind {
                AcquirerKind::Bacen | AcquirerKind::Efi => {
                    "see its base_url, token_url, client_id, client_secret and client certificate"
                }
                AcquirerKind::Woovi => "see its base_url and app_id, and the permissions of the AppID",
            };
            vec![Finding::failed(check, format!("{}: {advice}", chain(error.as_ref())))]
        }
    }
}

fn certificate(acquirer: &AcquirerConfig, now: Timestamp) -> Option<Finding> {
    let check = format!("acquirer {} certificate", acquirer.name);
    match wiring::certificate_expires_at(acquirer) {
        Ok(expires_at) => expires_at.map(|at| Finding::of_expiry(check, at, now)),
        Err(error) => Some(Finding::failed(check, chain(error.as_ref()))),
    }
}

//! Checks of the servers that the service calls: acquirers and Redis.

use cais_ports::Clock as _;
use jiff::{SignedDuration, Timestamp};

use super::{Finding, of_clock};
use crate::clock::OffsetClock;
use crate::config::{AcquirerConfig, Config};
use crate::logging::chain;
use crate::wiring;

/// Remaining validity below which a certificate is a warning: acquirers need days to issue a new one.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Checks each acquirer, then Redis when it is configured.
pub async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if config.sandbox {
        findings.push(Finding::ok("acquirer", "the built-in sandbox starts with the service"));
    }
    for acquirer in &config.acquirers {
        findings.extend(certificate(acquirer, OffsetClock::new().now()));
        findings.extend(access(acquirer).await);
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
        Ok(date) => {
            let clock = date.map(|date| of_clock(format!("{check} clock"), date, OffsetClock::new().now()));
            let missing = || Finding::ok(format!("{check} clock"), "not in its answer");
            vec![Finding::ok(check.clone(), "issues access tokens"), clock.unwrap_or_else(missing)]
        }
        Err(error) => {
            let advice = "see its base_url, token_url, client_id, client_secret and client certificate";
            vec![Finding::failed(check, format!("{}: {advice}", chain(error.as_ref())))]
        }
    }
}

fn certificate(acquirer: &AcquirerConfig, now: Timestamp) -> Option<Finding> {
    let check = format!("acquirer {} certificate", acquirer.name);
    match wiring::certificate_expires_at(acquirer) {
        Ok(expires_at) => expires_at.map(|at| of_expiry(check, at, now)),
        Err(error) => Some(Finding::failed(check, chain(error.as_ref()))),
    }
}

fn of_expiry(check: String, expires_at: Timestamp, now: Timestamp) -> Finding {
    let left = expires_at.duration_since(now);
    let advice = "order a new one from the acquirer";
    if left <= SignedDuration::ZERO {
        Finding::failed(check, format!("expired at {expires_at}: {advice}"))
    } else if left < EXPIRES_SOON {
        Finding::warning(check, format!("expires at {expires_at}: {advice}"))
    } else {
        Finding::ok(check, format!("expires at {expires_at}"))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::cli::doctor::Status;

    #[test]
    fn certificate_near_its_end_warns_and_after_it_fails() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (left_h, status) in
            [(-1, Status::Failed), (0, Status::Failed), (1, Status::Warning), (719, Status::Warning), (720, Status::Ok)]
        {
            let found = of_expiry("certificate".to_owned(), now + SignedDuration::from_hours(left_h), now);
            assert_eq!(found.status, status, "{left_h}");
        }
    }
}

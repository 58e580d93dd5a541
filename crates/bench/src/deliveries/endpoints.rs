//! Registers the receivers at the service, over its API, as webhook endpoints of its accounts.

use anyhow::{Context as _, Result, ensure};
use cais_domain::event::EventType;
use serde_json::{Value, json};

use crate::http::{Connection, post};
use crate::receiver::Receiver;
use crate::service::Service;

/// Registers every endpoint of the receivers, and sends the signing secrets to the receivers. Endpoint `n` belongs to
/// the account `n % accounts`, and subscribes to the event type `event_type_of(n)`.
///
/// # Errors
/// If the service refuses an endpoint, or the process of the receivers has ended.
pub async fn register<'a>(
    service: &Service,
    receiver: &mut Receiver,
    event_type_of: impl Fn(usize) -> &'a str,
) -> Result<()> {
    let mut connection = Connection::open(service.address()?).await?;
    let mut secrets = Vec::new();
    let accounts = service.keys.iter().cycle();
    for (place, (url, key)) in receiver.urls().iter().zip(accounts).enumerate() {
        let body = json!({"url": url, "events": [event_type_of(place)]}).to_string();
        let answer = connection.ask(&post("/v1/webhook-endpoints", key, "", &body)).await?;
        ensure!(answer.status == 201, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        let made: Value = serde_json::from_slice(answer.body)?;
        secrets.push(made.get("secret").and_then(Value::as_str).context("no secret")?.to_owned());
    }
    receiver.set_secrets(secrets)
}

/// Returns, for each endpoint, the position of its account and its event type. No two endpoints of an account share a
/// type, so each event has one delivery.
///
/// # Errors
/// If there are more endpoints than such pairs.
pub fn distinct_subscriptions(endpoints: usize, accounts: usize) -> Result<Vec<(usize, EventType)>> {
    let place = |number: usize| {
        let kind = number.checked_div(accounts).and_then(|turn| EventType::ALL.get(turn)).copied();
        Ok((number.checked_rem(accounts).context("no accounts")?, kind.context("too few types")?))
    };
    (0..endpoints).map(place).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn endpoints_of_an_account_have_different_types() {
        for endpoints in [1, 10, 100] {
            let found: HashSet<_> = distinct_subscriptions(endpoints, 16).into_iter().flatten().collect();
            assert_eq!(found.len(), endpoints);
        }
        assert!(distinct_subscriptions(1_000, 16).is_err() && distinct_subscriptions(1, 0).is_err());
    }
}

//! Endpoints of the service's accounts, registered over its API, and the receivers behind them.

use anyhow::{Context as _, Result, ensure};
use cais_domain::event::EventType;
use serde_json::{Value, json};

use crate::http::{Connection, post};
use crate::receiver::Receiver;
use crate::service::Service;

/// Registers every endpoint of the receivers, and tells them what the service signs with. The accounts take turns: endpoint `n` is of
/// account `n % accounts`. It hears of the types that `wants` names.
///
/// # Errors
/// When the service refuses one.
pub async fn register<'a>(service: &Service, receiver: &mut Receiver, wants: impl Fn(usize) -> &'a str) -> Result<()> {
    let mut connection = Connection::open(service.address()?).await?;
    let mut secrets = Vec::new();
    let accounts = service.keys.iter().cycle();
    for (place, (url, key)) in receiver.urls().iter().zip(accounts).enumerate() {
        let body = json!({"url": url, "events": [wants(place)]}).to_string();
        let answer = connection.ask(&post("/v1/webhook-endpoints", key, "", &body)).await?;
        ensure!(answer.status == 201, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        let made: Value = serde_json::from_slice(answer.body)?;
        secrets.push(made.get("secret").and_then(Value::as_str).context("no secret")?.to_owned());
    }
    receiver.trust(secrets)
}

/// The account and the one type of event of each endpoint, such that no two of an account want the same: so each event of these has one
/// delivery.
///
/// # Errors
/// When there are more endpoints than such pairs.
pub fn apart(endpoints: usize, accounts: usize) -> Result<Vec<(usize, EventType)>> {
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
    fn no_two_endpoints_of_an_account_want_the_same() {
        for endpoints in [1, 10, 100] {
            let found: HashSet<_> = apart(endpoints, 16).into_iter().flatten().collect();
            assert_eq!(found.len(), endpoints);
        }
        assert!(apart(1_000, 16).is_err() && apart(1, 0).is_err());
    }
}

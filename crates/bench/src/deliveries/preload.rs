//! Adds many events through the store, which creates their deliveries as in the service.

use std::time::Duration;

use anyhow::{Context as _, Result};
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, ChargeId};
use cais_persistence::Persistence;
use cais_ports::{AccountQueries as _, ChangeSet, NewEvent, Store as _};
use cais_testkit::builders::fresh;
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp, Unit};

use crate::clock;
use crate::service::email;
use crate::store::changes::event_data;

/// Events per change set, and the number of such change sets in flight.
const AT_ONCE: usize = 200;
const CHANGES_AT_ONCE: usize = 8;
/// The age of the events: old enough that their deliveries are due, and too young for housekeeping to remove them.
const EVENT_AGE: Duration = Duration::from_mins(10);

/// Adds `number` events. The pairs of account and type in `pairs` are used in turn.
///
/// # Errors
/// If a commit is refused.
pub async fn events(store: &Persistence, pairs: &[(AccountId, EventType)], number: usize) -> Result<()> {
    let at = happened_at()?;
    let mut made = 0_usize;
    let mut turns = pairs.iter().cycle();
    while made < number {
        let wave = number.saturating_sub(made).min(AT_ONCE.saturating_mul(CHANGES_AT_ONCE));
        let events: Vec<NewEvent> =
            turns.by_ref().take(wave).map(|(account, kind)| event(*account, *kind, at)).collect();
        let changes = events.chunks(AT_ONCE).map(|events| ChangeSet { events: events.to_vec(), ..ChangeSet::new(at) });
        try_join_all(changes.map(|change| store.commit(change))).await?;
        made = made.saturating_add(events.len());
        (!events.is_empty()).then_some(()).context("no events")?;
    }
    Ok(())
}

/// Returns the ids of the service's first `number` accounts, in the order of their keys.
///
/// # Errors
/// If an account is missing.
pub async fn accounts(store: &Persistence, number: usize) -> Result<Vec<AccountId>> {
    let find = |number| async move {
        let account = store.find_account_by_email(&email(number)).await?;
        account.map(|account| account.id).context("no account")
    };
    try_join_all((0..number).map(find)).await
}

/// Returns the instant of the events.
///
/// # Errors
/// If the clock shows an instant at the beginning or the end of the calendar.
pub fn happened_at() -> Result<Timestamp> {
    let at = clock::now().checked_sub(SignedDuration::try_from(EVENT_AGE)?)?;
    Ok(at.round(Unit::Microsecond)?)
}

/// Returns an event whose data is as long as that of a paid charge's event.
fn event(account: AccountId, kind: EventType, at: Timestamp) -> NewEvent {
    let charge: ChargeId = fresh();
    let resource = charge.to_string();
    let start = format!(r#"{{"id":"{resource}","text":""#);
    let text = event_data().get(start.len().saturating_add(2)..).unwrap_or_default();
    let data = format!(r#"{start}{text}"}}"#).into_bytes();
    NewEvent { id: fresh(), account, kind, at, resource, data, postback: None }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn event_is_json_of_the_right_length() {
        let event = event(fresh(), EventType::ChargePaid, Timestamp::UNIX_EPOCH);
        assert_eq!(event.data.len(), event_data().len());
        assert!(serde_json::from_slice::<Value>(&event.data).is_ok());
    }
}

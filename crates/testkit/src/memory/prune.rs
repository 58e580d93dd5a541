//! Housekeeping of the store in memory.

use std::collections::{BTreeMap, BTreeSet};

use cais_commit_rules::Snapshot;
use cais_domain::event::EventType;
use cais_domain::ids::{EndpointId, EventId};
use cais_domain::merchant::webhook::{DeliveryStatus, EndpointState};
use cais_ports::{CallbackState, PruneBefore, Pruned, RecordKey};
use jiff::Timestamp;

use super::maintenance::length;
use super::state::State;

pub(super) fn prune(state: &mut State, before: PruneBefore) -> Pruned {
    let keys = &mut state.snapshot.keys;
    let (records, callbacks) = (keys.idempotency_records.len(), state.tables.callbacks.len());
    keys.idempotency_records
        .retain(|_, record| record.due_at.is_some() || record.created_at >= before.idempotency_records);
    let records = records.saturating_sub(keys.idempotency_records.len());
    state.tables.callbacks.retain(|_, callback| match callback.state {
        CallbackState::Waiting => true,
        CallbackState::Done => callback.received_at >= before.marks,
        CallbackState::Unmatched => callback.received_at >= before.events,
    });
    let kept = &state.tables.callbacks;
    keys.versions.retain(|key, _| !matches!(key, RecordKey::Callback { .. }) || kept.contains_key(key));
    let quotes = state.tables.crypto_quotes.len();
    state.tables.crypto_quotes.retain(|_, quote| quote.used_by.is_some() || quote.expires_at >= before.marks);
    let kept = &state.tables.crypto_quotes;
    keys.versions.retain(|key, _| !matches!(key, RecordKey::CryptoQuote { .. }) || kept.contains_key(key));
    let quotes = quotes.saturating_sub(kept.len());
    state.tables.sessions.retain(|_, session| session.expires_at >= before.marks);
    state.tables.confirmations.retain(|_, confirmation| confirmation.expires_at >= before.marks);
    let tables = &state.tables;
    keys.versions.retain(|key, _| !matches!(key, RecordKey::Session { .. }) || tables.sessions.contains_key(key));
    let is_confirmation = |key: &RecordKey| matches!(key, RecordKey::Confirmation { .. });
    keys.versions.retain(|key, _| !is_confirmation(key) || tables.confirmations.contains_key(key));
    let requests = state.requests.len();
    state.requests.retain(|_, request| request.at >= before.requests);
    let requests = requests.saturating_sub(state.requests.len());
    let events = prune_events(state, before.events);
    prune_endpoints(state, before.events);
    Pruned {
        idempotency_records: length(records),
        batches: 0,
        callbacks: length(callbacks.saturating_sub(state.tables.callbacks.len())),
        events: length(events),
        crypto_quotes: length(quotes),
        requests: length(requests),
    }
}

/// Removes the oldest events of each account, and old test deliveries. Stops at the first event of an account that is
/// within the retention or has a pending delivery.
fn prune_events(state: &mut State, before: Timestamp) -> usize {
    let pending = state.deliveries.values().filter(|row| row.status == DeliveryStatus::Pending);
    let waited_for: BTreeSet<EventId> =
        pending.filter(|row| state.is_active(row.queue())).map(|row| row.event).collect();
    let mut gone = BTreeSet::new();
    for events in state.events.values_mut() {
        let old = |event: &cais_ports::NewEvent| event.at < before && !waited_for.contains(&event.id);
        let count = events.iter().take_while(|stored| old(&stored.event)).count();
        gone.extend(events.drain(..count).map(|stored| stored.event.id));
    }
    state.deliveries.retain(|_, row| {
        let old_test =
            row.kind == EventType::WebhookTest && row.created_at < before && !waited_for.contains(&row.event);
        !old_test && !gone.contains(&row.event)
    });
    gone.len()
}

/// Removes endpoints that were deleted before that instant and have no deliveries.
fn prune_endpoints(state: &mut State, before: Timestamp) {
    let used: BTreeSet<EndpointId> = state.deliveries.values().map(|row| row.key.endpoint).collect();
    let Snapshot { keys, ledger, .. } = &mut state.snapshot;
    for endpoints in ledger.endpoints.values_mut() {
        endpoints.retain(|id, endpoint| match endpoint.state {
            EndpointState::Deleted { at } => at >= before || used.contains(id),
            EndpointState::Active | EndpointState::Inactive | EndpointState::Disabled { .. } => true,
        });
    }
    let known: BTreeSet<EndpointId> = ledger.endpoints.values().flat_map(BTreeMap::keys).copied().collect();
    keys.versions.retain(|key, _| !matches!(key, RecordKey::Endpoint { id, .. } if !known.contains(id)));
    state.failing.retain(|(endpoint, _), _| known.contains(endpoint));
}

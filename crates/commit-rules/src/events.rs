//! Sequence numbers of events, and their deliveries.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cais_domain::ids::{AccountId, DeliveryId, EndpointId};
use cais_domain::merchant::webhook::Endpoint;
use cais_ports::{ChangeSet, CommitError, EndpointQueue, IdGenerator, NewDelivery, NewEvent};

use crate::effects::{Effects, NumberedEvent, Side};
use crate::snapshot::{LedgerSnapshot, written_endpoints};

/// Gives each event the next sequence number of its account, and adds one delivery per subscribed endpoint. If the
/// change set also writes an endpoint, the subscriptions in that write decide.
///
/// # Errors
/// [`CommitError::Corrupt`] if the snapshot lacks the counter of an account.
pub(crate) fn number<'a>(
    ledger: &LedgerSnapshot,
    change: &'a ChangeSet,
    ids: &dyn IdGenerator,
    effects: &mut Effects<'a>,
) -> Result<(), CommitError> {
    for event in &change.events {
        let before = effects.events.iter().rev().find(|numbered| numbered.event.account == event.account);
        let last = before.map(|numbered| numbered.sequence).or_else(|| ledger.sequences.get(&event.account).copied());
        let last =
            last.ok_or_else(|| CommitError::Corrupt(format!("the event counter of {} is missing", event.account)))?;
        let sequence = last.saturating_add(1);
        let matching = endpoints(ledger, change, event.account);
        let matching = matching.values().filter(|one| one.subscribes_to(event.kind, event.postback.as_ref()));
        effects.deliveries.extend(matching.map(|endpoint| NewDelivery {
            id: DeliveryId::new(ids.next_uuid()),
            queue: EndpointQueue { account: endpoint.account, endpoint: endpoint.id, epoch: endpoint.epoch },
            event: event.id,
            kind: event.kind,
            sequence: Some(sequence),
            at: change.at,
        }));
        let event = with_entry(event, effects);
        effects.events.push(NumberedEvent { event, sequence });
    }
    Ok(())
}

/// Returns the endpoints of an account. Endpoints that the change set writes are returned in their new form.
fn endpoints<'e>(
    ledger: &'e LedgerSnapshot,
    change: &'e ChangeSet,
    account: AccountId,
) -> BTreeMap<EndpointId, &'e Endpoint> {
    let stored = ledger.endpoints.get(&account).into_iter().flatten().map(|(id, endpoint)| (*id, endpoint));
    let written = written_endpoints(change).filter(|endpoint| endpoint.account == account);
    stored.chain(written.map(|endpoint| (endpoint.id, endpoint))).collect()
}

/// Inserts an entry's id into the data of a `split.received` event: the id of the entry that credits the share.
/// Returns every other event unchanged.
fn with_entry<'a>(event: &'a NewEvent, effects: &Effects<'_>) -> Cow<'a, NewEvent> {
    let mut entries = effects.entries.iter();
    match entries.find(|entry| entry.side == Side::To && event.is_of_credit(&entry.transfer)) {
        Some(entry) => Cow::Owned(event.with_entry(entry.id)),
        None => Cow::Borrowed(event),
    }
}

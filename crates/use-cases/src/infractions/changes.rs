//! Commits a step of an infraction. The same commit writes its charge, the other infractions on the Pix, the blocks and
//! the events.

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::infraction::{Infraction, InfractionChange, InfractionStep};
use cais_ports::{ChangeSet, CommitError, NewEvent, Write};
use jiff::Timestamp;

use crate::ports::Ports;
use crate::upstream_order::StoredRecord as _;

/// Returns all changes of the step. An infraction that is not stored yet is inserted.
pub(super) fn change_set(ports: &Ports, step: &InfractionChange, now: Timestamp) -> ChangeSet {
    let InfractionChange { infraction, siblings, charge, blocks, event, charge_event } = step;
    let mut change = ChangeSet::new(now);
    change.writes.extend(charge.clone().map(Write::update));
    let write = if infraction.version == 0 { Write::insert } else { Write::update };
    change.writes.push(write(infraction.clone()));
    change.writes.extend(siblings.iter().map(|sibling| Write::update(sibling.clone())));
    change.blocks.clone_from(blocks);
    let event_of = |kind: EventType, resource: String, data: Vec<u8>| NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: infraction.account,
        kind,
        at: now,
        resource,
        data,
        postback: None,
    };
    if let Some(kind) = event {
        let data = ports.representation.infraction(infraction);
        change.events.push(event_of(*kind, infraction.id.to_string(), data));
    }
    if let (Some(charge), Some(kind)) = (charge, charge_event) {
        let event = event_of(*kind, charge.id.to_string(), ports.representation.charge(charge));
        change.events.push(NewEvent { postback: charge.terms.postback.clone(), ..event });
    }
    change
}

/// Commits a step and returns the stored infraction.
pub(super) async fn commit(ports: &Ports, step: InfractionStep, now: Timestamp) -> Result<Infraction, CommitError> {
    match step {
        InfractionStep::AlreadyTaken(infraction) => Ok(*infraction),
        InfractionStep::Taken(step) => {
            ports.store.commit(change_set(ports, &step, now)).await?;
            Ok(step.infraction.stored())
        }
    }
}

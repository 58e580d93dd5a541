//! The change sets of an infraction's steps. Each has all effects of its step: on the charge, on the other infractions
//! of the Pix, and on the blocks of all these infractions.

use cais_domain::infraction::{DisputeReport, Disputed, Infraction, InfractionChange, InfractionStep};
use cais_ports::{ChangeSet, Reservation, ReservationKey, ResourceRenderer as _, Write};
use jiff::Timestamp;

use super::super::records::expect_ok;
use super::{charge_event_of, event_of, write};
use crate::representation::TextRepresentation;

/// Returns the change set that opens an infraction on the Pix of `disputed`. [`Infraction::open`] decides the effects.
/// The change set also reserves the acquirer's id of the infraction.
#[must_use]
pub fn open_infraction(report: &DisputeReport, disputed: Disputed<'_>, at: Timestamp) -> ChangeSet {
    let step = expect_ok(Infraction::open(report.clone(), disputed, at));
    let key = infraction_key(report);
    let reserve = Reservation { key, account: disputed.charge.account, owner: report.id.to_string() };
    ChangeSet { reserve: vec![reserve], ..change_set_of(step, Write::insert, at) }
}

/// Returns the reservation key of the acquirer's id of the infraction.
#[must_use]
pub fn infraction_key(report: &DisputeReport) -> ReservationKey {
    ReservationKey::Infraction(format!("{}/{}", report.acquirer, report.upstream_id))
}

/// Returns the change set that updates the stored infraction, without other effects. `infraction` must have the stored
/// version.
#[must_use]
pub fn update_infraction(infraction: &Infraction, at: Timestamp) -> ChangeSet {
    write(Write::update(infraction.clone()), at)
}

/// Returns the change set that stores the effects of a step. A step that was taken before has no effects.
#[must_use]
pub fn move_infraction(step: InfractionStep, at: Timestamp) -> ChangeSet {
    change_set_of(step, Write::update, at)
}

fn change_set_of(step: InfractionStep, write: impl FnOnce(Infraction) -> Write, at: Timestamp) -> ChangeSet {
    let InfractionStep::Taken(change) = step else { return ChangeSet::new(at) };
    let InfractionChange { infraction, siblings, charge, blocks, event, charge_event } = *change;
    let data = TextRepresentation.infraction(&infraction);
    let event = event.map(|kind| event_of(infraction.account, kind, &infraction.id.to_string(), data));
    let charge_event = charge.as_ref().zip(charge_event).map(|(charge, kind)| charge_event_of(charge, kind));
    let siblings = siblings.into_iter().map(Write::update);
    let update = charge.map(Write::update);
    ChangeSet {
        writes: update.into_iter().chain([write(infraction)]).chain(siblings).collect(),
        blocks,
        events: event.into_iter().chain(charge_event).collect(),
        ..ChangeSet::new(at)
    }
}

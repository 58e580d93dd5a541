//! An infraction on the wire: in lists without its defence, else with it.

use cais_domain::external_id::ExternalId;
use cais_domain::infraction::Infraction;
use cais_domain::text::Text;

use super::object::Object;

/// Room for an infraction without its defence: one allocation is enough for nearly all.
const INFRACTION_BYTES: usize = 512;

/// An infraction as a list shows it.
#[must_use]
pub fn row(infraction: &Infraction) -> Vec<u8> {
    common(infraction, INFRACTION_BYTES).finish()
}

/// An infraction with its defence, as it is read by its id.
#[must_use]
pub fn detail(infraction: &Infraction) -> Vec<u8> {
    let defense = infraction.defense.as_ref();
    let text = defense.and_then(|defense| defense.text.as_ref()).map(Text::as_str);
    let evidence_url = defense.and_then(|defense| defense.evidence_url.as_ref()).map(Text::as_str);
    let room =
        INFRACTION_BYTES.saturating_add(text.map_or(0, str::len)).saturating_add(evidence_url.map_or(0, str::len));
    let mut object = common(infraction, room);
    object.optional_text("defense_text", text);
    object.optional_text("defense_evidence_url", evidence_url);
    object.finish()
}

fn common(infraction: &Infraction, room: usize) -> Object {
    let mut object = Object::with_capacity(room);
    object.plain_text("id", &infraction.id);
    object.optional_text("external_id", infraction.external_id.as_ref().map(ExternalId::as_str));
    object.plain_text("end_to_end_id", &infraction.end_to_end_id);
    object.optional_text("reason", infraction.reason.as_deref());
    object.plain_text("reason_code", &infraction.situation.as_str());
    object.money("amount", infraction.amount);
    object.plain_text("status", &infraction.state.status().as_str());
    object.optional_instant("opened_at", Some(infraction.opened_at));
    object.optional_instant("deadline_at", infraction.deadline_at);
    object.optional_instant("resolved_at", infraction.state.resolved_at());
    let submitted_at = infraction.defense.as_ref().and_then(|defense| defense.submitted_at);
    object.optional_instant("defense_submitted_at", submitted_at);
    object
}

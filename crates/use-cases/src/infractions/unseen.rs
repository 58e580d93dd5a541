//! What became of an infraction at its acquirer between two looks, as far as it can be known afterwards.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, NewInfraction, UnseenEnd};
use cais_ports::UpstreamInfraction;

use super::case::Case;
use super::opening::{Opening, begin, is_believed};
use super::steps::change_set;
use super::sync::{Applied, SyncError, held, new_infraction, tell_of_a_shortfall};
use super::weigh::{Weighed, weigh};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Ends ours, which was defended, ended and was opened again unseen, and opens the next round, in one commit: what is blocked stays so.
///
/// It was lost if its acquirer took something for it, and so much of it as was taken; otherwise nobody can say how it ended, and it
/// counts as withdrawn.
pub(super) async fn supersede(
    ports: &Ports,
    ours: &Infraction,
    told: &UpstreamInfraction,
    round: u32,
) -> Result<Opening, SyncError> {
    if !is_believed(&ours.acquirer, told, round) {
        return Ok(Opening::Not(Applied::NotBelieved));
    }
    let case = Case::of(ports, ours).await?;
    let infraction = case.infraction(ours.id)?;
    if infraction.version != ours.version {
        return Ok(Opening::Again);
    }
    let end = match weigh(ports, &case, ours, told, false).await? {
        Weighed::TooEarly => return Ok(Opening::Not(Applied::NotYet)),
        Weighed::Unaccounted(taken) if taken.is_positive() => UnseenEnd::Lost(taken),
        Weighed::Unaccounted(_) => UnseenEnd::Cancelled,
    };
    let held = held(ports, ours).await?;
    let now = ports.clock.now();
    let id = InfractionId::new(ports.ids.next_uuid());
    let asked = NewInfraction { id, ..new_infraction(&ours.acquirer, told, now) };
    let reopened = infraction.reopen(asked, case.disputed(), (end, held), now).map_err(Trouble::from)?;
    let (mut change, opened) = (change_set(ports, &reopened.ended, now), change_set(ports, &reopened.opened, now));
    change.writes.extend(opened.writes);
    change.blocks.extend(opened.blocks);
    change.events.extend(opened.events);
    let opening = begin(ports, change, &reopened.opened.infraction, round).await?;
    if matches!(opening, Opening::Opened) {
        let (status, opened) = (reopened.ended.infraction.state.status().as_str(), reopened.opened.infraction.id);
        tracing::warn!(infraction = %ours.id, status, %opened, "an infraction ended and was reopened before its end was seen");
        if end != UnseenEnd::Cancelled {
            tell_of_a_shortfall(&reopened.ended.infraction, held);
        }
    }
    Ok(opening)
}

//! What became of an infraction at its acquirer between two looks, as far as it can be known afterwards.

use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionState, NewInfraction, UnseenEnd};
use cais_domain::money::Money;
use cais_ports::UpstreamInfraction;

use super::case::Case;
use super::look::AT_LEISURE;
use super::opening::{Opening, begin, is_believed};
use super::returns::taken_back;
use super::steps::change_set;
use super::sync::{Applied, SyncError, adapter, held, new_infraction, tell_of_a_shortfall};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// What the acquirer took of the Pix of `ours` beyond what lost infractions on it account for.
///
/// Nothing while another one is open, which may be lost there by now and account for it.
pub(super) async fn unaccounted(ports: &Ports, case: &Case, ours: &Infraction) -> Result<Money, SyncError> {
    let mut accounted = Money::ZERO;
    for infraction in case.infractions() {
        if infraction.id != ours.id && infraction.state.status().is_open() {
            return Ok(Money::ZERO);
        }
        if matches!(infraction.state, InfractionState::Lost { .. }) {
            // What the account lacked of it was taken there all the same.
            accounted = accounted.checked_add(infraction.limit).map_err(out_of_range)?;
        }
    }
    let acquirer = adapter(ports, &ours.acquirer)?;
    let Some(received) = acquirer.find_received(&ours.end_to_end_id, AT_LEISURE.budget).await? else {
        return Ok(Money::ZERO);
    };
    let taken = taken_back(&received.payment.returns)?;
    Ok(taken.checked_sub(accounted).map_err(out_of_range)?.max(Money::ZERO))
}

/// Ends ours, which was defended, ended and was opened again unseen, and opens the next round, in one commit: what is blocked stays so.
///
/// It was lost if its acquirer took something for it; otherwise nobody can say how it ended, and it counts as withdrawn.
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
    let taken = unaccounted(ports, &case, ours).await?;
    let end = if taken.is_positive() { UnseenEnd::Lost } else { UnseenEnd::Cancelled };
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
        if end == UnseenEnd::Lost {
            tell_of_a_shortfall(ours, held);
        }
    }
    Ok(opening)
}

fn out_of_range(error: cais_domain::money::MoneyError) -> SyncError {
    Trouble::Internal(error.to_string()).into()
}

//! Names of infractions: what an acquirer calls one, and which of ours that is. One that is reopened there is another of ours.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::Infraction;
use cais_ports::ReservationKey;

use crate::ports::Ports;
use crate::trouble::Trouble;

/// How often one can be reopened; an acquirer that does so more often is not believed.
pub(super) const MAX_ROUNDS: u32 = 20;
/// The longest name of an infraction that is believed, in bytes.
const MAX_NAME: usize = 128;

/// Whether it can be a name of an infraction. One with a slash could be taken for a later round of another.
pub(super) fn is_name(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_NAME && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// The name of a round: 1 is the first time that it is open.
pub(super) fn key(acquirer: &AcquirerName, id: &str, round: u32) -> ReservationKey {
    ReservationKey::Infraction(match round {
        0 | 1 => format!("{acquirer}/{id}"),
        later => format!("{acquirer}/{id}/{later}"),
    })
}

/// The infraction of ours of that name in its latest round, and which round that is; `None` when it is not known yet.
pub(super) async fn latest(
    ports: &Ports,
    acquirer: &AcquirerName,
    id: &str,
) -> Result<Option<(u32, Infraction)>, Trouble> {
    let mut last = None;
    for round in 1..=MAX_ROUNDS {
        let Some(owner) = ports.queries.find_owner(&key(acquirer, id, round)).await? else { break };
        last = Some((round, owner));
    }
    let Some((round, owner)) = last else { return Ok(None) };
    let ours = InfractionId::parse(&owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_infraction_of_any(ours).await?;
    found.map(|infraction| Some((round, infraction))).ok_or_else(|| Trouble::Internal(format!("{ours} vanished")))
}

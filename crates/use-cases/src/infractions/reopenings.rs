//! Maps an acquirer's id of an infraction to the stored infractions. Each opening or reopening at the acquirer is a
//! round, and each round has a stored infraction of its own.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::Infraction;
use cais_ports::ReservationKey;

use crate::ports::Ports;
use crate::store_error::StoreError;

/// The largest number of rounds of one infraction. Later reopenings are rejected.
pub(super) const MAX_ROUNDS: u32 = 20;
/// The longest accepted infraction id, in bytes.
const MAX_ID: usize = 128;

/// Returns whether the text is a valid infraction id. A slash is refused, because the key of a later round contains
/// one.
pub(super) fn is_valid_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// Returns the reservation key of a round. Round 1 is the first opening.
pub(super) fn key(acquirer: &AcquirerName, id: &str, round: u32) -> ReservationKey {
    ReservationKey::Infraction(match round {
        0 | 1 => format!("{acquirer}/{id}"),
        later => format!("{acquirer}/{id}/{later}"),
    })
}

/// Returns the number of the newest stored round, and its infraction. Returns `None` if no round is stored.
pub(super) async fn latest(
    ports: &Ports,
    acquirer: &AcquirerName,
    id: &str,
) -> Result<Option<(u32, Infraction)>, StoreError> {
    let mut last = None;
    for round in 1..=MAX_ROUNDS {
        let Some(owner) = ports.queries.find_owner(&key(acquirer, id, round)).await? else { break };
        last = Some((round, owner));
    }
    let Some((round, owner)) = last else { return Ok(None) };
    let ours = InfractionId::parse(&owner).map_err(|error| StoreError::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_infraction_of_any(ours).await?;
    found.map(|infraction| Some((round, infraction))).ok_or_else(|| StoreError::Internal(format!("{ours} is missing")))
}

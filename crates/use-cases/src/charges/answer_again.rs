//! Creating a charge whose external id has an owner already: the owner is the answer, and stays it under the new key.

use cais_domain::charge::ChargeStatus;
use cais_domain::ids::ChargeId;

use super::create::{CreateCharge, CreateChargeError};
use crate::answer::Answer;
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::remember;
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// A call whose external id has an owner; `None` when the owner has just given it up.
pub(super) async fn existing(
    ports: &Ports,
    command: &CreateCharge,
    owner: &str,
) -> Result<Option<Answer>, CreateChargeError> {
    let id = ChargeId::parse(owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_charge(command.account.id, id).await.map_err(Trouble::from)?;
    let charge = found.ok_or_else(|| Trouble::Internal(format!("{owner} owns an external id but does not exist")))?;
    match charge.state.status() {
        ChargeStatus::Creating => Err(CreateChargeError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        ChargeStatus::Abandoned => Ok(None),
        ChargeStatus::Pending
        | ChargeStatus::Paid
        | ChargeStatus::Expired
        | ChargeStatus::Cancelled
        | ChargeStatus::Refunded => {
            ExternalIdConflict::unless_same(owner, [("amount", charge.terms.amount == command.terms.amount)])?;
            let body = ports.representation.charge(&charge);
            Ok(Some(remember(ports, &command.call(), owner, 200, body).await?))
        }
    }
}

//! Calls that create nothing and are answered all the same: the external id has its payout already, or the money is not there.

use cais_domain::ids::PayoutId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::Claim;

use super::create::{CreatePayout, CreatePayoutError};
use super::resume::begun;
use crate::answer::Answer;
use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::{KeepError, Kept, answer_orphaned, keep_answer, remember};
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// The status of a payout that the balance does not cover.
const NOT_COVERED: u16 = 422;

/// A call whose external id has an owner: the owner is the answer, and stays it under the new key. `None` when the owner has
/// just given the name up.
pub(super) async fn existing(
    ports: &Ports,
    command: &CreatePayout,
    owner: &str,
) -> Result<Option<Answer>, CreatePayoutError> {
    let id = PayoutId::parse(owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_payout(command.account.id, id).await.map_err(Trouble::from)?;
    let payout = found.ok_or_else(|| Trouble::Internal(format!("{owner} owns an external id but does not exist")))?;
    match payout.state.status() {
        PayoutStatus::Pending => Err(CreatePayoutError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        PayoutStatus::Abandoned => Ok(None),
        PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => {
            let (made, asked) = (&payout.terms, &command.terms);
            let fields = [("amount", made.amount == asked.amount), ("pix_key", made.pix_key == asked.pix_key)];
            ExternalIdConflict::unless_same(owner, fields)?;
            let body = ports.representation.payout(&payout);
            Ok(Some(remember(ports, &command.call(), owner, 200, body).await?))
        }
    }
}

/// A first call that the balance does not cover: that is its answer for ever, under the id that the payout would have had.
///
/// Nothing else of it is kept, so the external id stays free; money that arrives later serves another key. The claim comes
/// back when somebody else has taken the key meanwhile.
pub(super) async fn not_covered(
    ports: &Ports,
    command: &CreatePayout,
    payout: &Payout,
    available: Money,
) -> Result<Kept, Trouble> {
    let body = ports.representation.insufficient_balance(command.request, needed(payout)?, available);
    keep_answer(ports, &command.call(), &payout.id.to_string(), NOT_COVERED, body).await
}

/// A repeat of what was given up, for which the money is not there any more: the same answer, for ever, too.
///
/// Its external id was freed when it was given up and stays so.
pub(super) async fn still_not_covered(
    ports: &Ports,
    command: &CreatePayout,
    claim: &Claim,
    available: Money,
) -> Result<Answer, KeepError> {
    // The payout keeps the fee of its creation, which may differ from the account's present fee.
    let payout = begun(ports, claim).await.map_err(Trouble::from)?;
    let body = ports.representation.insufficient_balance(command.request, needed(&payout)?, available);
    answer_orphaned(ports, &command.call(), claim, NOT_COVERED, body).await
}

fn needed(payout: &Payout) -> Result<Money, Trouble> {
    payout.terms.gross().map_err(|error| Trouble::Internal(error.to_string()))
}

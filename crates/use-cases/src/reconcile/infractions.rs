//! Comparing what acquirers returned because of infractions with what those returned here.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::infraction::InfractionState;
use cais_domain::money::Money;
use cais_ports::{ReturnNature, UpstreamPayment};

use super::Run;
use super::report::{Difference, DifferenceKind};
use super::returns::moves;
use crate::trouble::Trouble;

/// What differs for one Pix of a charge. Less was returned here than there when the account lacked money: that part is the
/// house's loss, and only a person can settle it.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    payment: &UpstreamPayment,
) -> Result<Option<Difference>, Trouble> {
    let pix = &payment.end_to_end_id;
    let taken = payment.returns.iter().filter(|one| one.nature == ReturnNature::Infraction && moves(one));
    let theirs = Money::sum(taken.map(|one| one.amount)).map_err(|error| Trouble::Internal(error.to_string()))?;
    // A charge shows no sign of what was lost of money that was paid beyond it.
    let tells = run.ports.acquirers.named(name).is_some_and(|acquirer| acquirer.tells_infractions());
    if !tells && theirs.is_zero() && charge.open_infractions == 0 && charge.refunds.done.is_zero() {
        return Ok(None);
    }
    let infractions = run.ports.queries.list_infractions_of_pix(charge.account, pix).await?;
    let mut ours = Money::ZERO;
    for infraction in &infractions {
        if let InfractionState::Lost { returned, at, .. } = infraction.state {
            if run.is_young(at) {
                // Its return is on its way.
                return Ok(None);
            }
            ours = ours.checked_add(returned).map_err(|error| Trouble::Internal(error.to_string()))?;
        }
    }
    // One that is open may just have been lost there.
    if ours == theirs || infractions.iter().any(|infraction| infraction.state.status().is_open()) {
        return Ok(None);
    }
    Ok(Some(Difference {
        kind: DifferenceKind::InfractionReturned,
        acquirer: name.clone(),
        resource: Some(charge.id.to_string()),
        upstream_id: pix.to_string(),
        ours: Some(ours.to_string()),
        theirs: Some(theirs.to_string()),
        repaired: false,
    }))
}

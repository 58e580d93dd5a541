//! Requests a charge from one acquirer after another, until one accepts it or may have it. A repeat of the request goes
//! only to that acquirer.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_ports::{Acquirer, AcquirerError, ChargeOrder, IssueError, UpstreamCharge};

use crate::ports::Ports;
use crate::upstream_result::{EarlierRequests, Evidence, SendReply, UpstreamResult, decide};

/// The time for the acquirers. This service answers a POST within 10 s; the remaining 3 s are for two commits.
const UPSTREAM_BUDGET: Duration = Duration::from_secs(7);
/// The part of [`UPSTREAM_BUDGET`] for the look-up that follows if the acquirer refuses a repeated request.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(2);

/// The charge as its acquirer issued it. The error distinguishes two cases: certainly no acquirer issued the charge, or
/// the outcome is unknown.
pub(super) type Issuing = Result<(AcquirerName, UpstreamCharge), IssueError>;

/// Requests the charge. A first request may go to several acquirers, one after another. After an earlier request, only
/// its acquirer may have the charge, so only that acquirer receives a request.
pub(super) async fn request(ports: &Ports, charge: &Charge, earlier: EarlierRequests) -> Issuing {
    let (order, acquirer) = (order(charge), charge.state.acquirer());
    let issuing = match earlier {
        EarlierRequests::None => ports.acquirers.issue(&order, acquirer, UPSTREAM_BUDGET).await,
        EarlierRequests::InFlight | EarlierRequests::Unknown | EarlierRequests::Shown => {
            request_again(ports, &order, acquirer.clone()).await
        }
    };
    match &issuing {
        Ok(_) => {}
        Err(IssueError::NoneTook { reasons }) => {
            tracing::warn!(charge = %charge.id, ?reasons, "charge not accepted by any acquirer; the charge is abandoned");
        }
        Err(IssueError::Unknown { acquirer, reason }) => {
            tracing::warn!(charge = %charge.id, %acquirer, reason, "outcome of a charge request is unknown; the creation is resumed later");
        }
    }
    issuing
}

/// Repeats the request at the acquirer that may have the charge. A refusal alone does not prove that the charge is
/// absent: some acquirers refuse a txid because the earlier request created the charge.
async fn request_again(ports: &Ports, order: &ChargeOrder, name: AcquirerName) -> Issuing {
    let Some(acquirer) = ports.acquirers.named(&name) else {
        return Err(IssueError::Unknown { acquirer: name, reason: "the acquirer is no longer configured".to_owned() });
    };
    let reply = SendReply::from(acquirer.create_charge(order, UPSTREAM_BUDGET.saturating_sub(LOOK_UP_BUDGET)).await);
    let look_up = match reply {
        SendReply::Refused(_) => look_up(&*acquirer, order).await,
        SendReply::Accepted(_) | SendReply::NotAccepted(_) | SendReply::Unknown(_) => Evidence::NotRead,
    };
    // For a charge, the acquirer's list is not read as a second proof of absence. If a late request still creates the
    // charge, no payer sees its code.
    match decide(EarlierRequests::Unknown, reply, look_up, Evidence::LIST_NOT_NEEDED) {
        UpstreamResult::Known(upstream) => Ok((name, upstream)),
        UpstreamResult::Refused(reason) => {
            Err(IssueError::NoneTook { reasons: vec![(name, AcquirerError::Refused(reason))] })
        }
        UpstreamResult::NotAccepted(reason)
        | UpstreamResult::Unknown(reason)
        | UpstreamResult::RefusedUnproven(reason) => Err(IssueError::Unknown { acquirer: name, reason }),
    }
}

/// Looks the charge up by its txid. A charge with another amount, or without a BR Code, counts as absent: no payer has
/// seen a code of it.
async fn look_up(acquirer: &dyn Acquirer, order: &ChargeOrder) -> Evidence<UpstreamCharge> {
    match acquirer.find_charge(&order.txid, LOOK_UP_BUDGET).await {
        Ok(Some(upstream)) if upstream.amount == order.amount && upstream.copy_paste.is_some() => {
            Evidence::Found(upstream)
        }
        Ok(Some(_) | None) => Evidence::Absent,
        Err(error) => Evidence::Unreadable(error.to_string()),
    }
}

fn order(charge: &Charge) -> ChargeOrder {
    ChargeOrder {
        txid: charge.txid.clone(),
        amount: charge.terms.amount,
        expires_in_s: charge.terms.expires_in_s,
        payer: charge.terms.payer().map(|(document, name)| (document, name.to_owned())),
        description: charge.terms.description.as_ref().map(|text| text.as_str().to_owned()),
    }
}

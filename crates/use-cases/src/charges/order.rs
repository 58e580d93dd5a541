//! Requests a charge from the acquirers in their order, or repeats the request at the acquirer that may have the
//! charge.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_ports::{Acquirer, AcquirerError, ChargeOrder, IssueError, UpstreamCharge};

use crate::ports::Ports;
use crate::upstream_result::{EarlierRequests, Evidence, SendReply, UpstreamResult, decide};

/// The acquirer's share of the 10 s within which the API answers a POST. The rest is for two commits.
const UPSTREAM_BUDGET: Duration = Duration::from_secs(7);
/// The part of [`UPSTREAM_BUDGET`] for a look-up after a repeated request is refused.
const LOOK_BUDGET: Duration = Duration::from_secs(2);

/// The charge as its acquirer issued it. The error shows whether the charge was certainly not issued, or the outcome is
/// unknown.
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

/// Repeats the request at the acquirer that may have the charge. A refusal alone is no proof, because the earlier request
/// may have created the charge: some acquirers refuse a txid that exists.
async fn request_again(ports: &Ports, order: &ChargeOrder, asked: AcquirerName) -> Issuing {
    let Some(acquirer) = ports.acquirers.named(&asked) else {
        return Err(IssueError::Unknown { acquirer: asked, reason: "the acquirer is no longer configured".to_owned() });
    };
    let reply = SendReply::from(acquirer.create_charge(order, UPSTREAM_BUDGET.saturating_sub(LOOK_BUDGET)).await);
    let look_up = match reply {
        SendReply::Refused(_) => look_up(&*acquirer, order).await,
        SendReply::Accepted(_) | SendReply::NotAccepted(_) | SendReply::Unknown(_) => Evidence::NotRead,
    };
    // A charge needs no list as a second proof: if a late request still creates it, no payer sees its code.
    match decide(EarlierRequests::Unknown, reply, look_up, Evidence::LIST_NOT_NEEDED) {
        UpstreamResult::Known(upstream) => Ok((asked, upstream)),
        UpstreamResult::Refused(reason) => {
            Err(IssueError::NoneTook { reasons: vec![(asked, AcquirerError::Refused(reason))] })
        }
        UpstreamResult::NotAccepted(reason)
        | UpstreamResult::Unknown(reason)
        | UpstreamResult::RefusedUnproven(reason) => Err(IssueError::Unknown { acquirer: asked, reason }),
    }
}

/// Looks the charge up by its txid. A charge that differs from the order counts as absent, because no payer has seen its
/// code.
async fn look_up(acquirer: &dyn Acquirer, order: &ChargeOrder) -> Evidence<UpstreamCharge> {
    match acquirer.find_charge(&order.txid, LOOK_BUDGET).await {
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

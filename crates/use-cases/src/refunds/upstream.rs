//! Requests of a refund to the acquirer of its Pix, and the reads that look for it there.

use std::time::Duration;

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::refund::Refund;
use cais_ports::{Acquirer, AcquirerError, RefundOrder, ReturnNature, UpstreamReturn, alerts};
use jiff::Timestamp;

use super::sync::acquirer;
use crate::ports::Ports;
use crate::upstream_evidence::{UpstreamOrder, resolve};
use crate::upstream_result::{Earlier, Evidence, UpstreamResult};

/// What the acquirer may take to take the order, of the 10 s within which a POST answers.
const SEND_BUDGET: Duration = Duration::from_secs(5);
/// What it may take besides to show the refund, when its reply to the order was lost or is a refusal.
const LOOK_BUDGET: Duration = Duration::from_secs(2);

/// Sends a refund for the first time, before `until`.
pub(super) async fn send_first(ports: &Ports, refund: &Refund, until: Timestamp) -> UpstreamResult<UpstreamReturn> {
    match acquirer(ports, refund) {
        Ok(acquirer) => send(ports, &*acquirer, refund, Earlier::None, until).await,
        Err(error) => UpstreamResult::NotTaken(error.to_string()),
    }
}

/// Sends a refund that may have been sent by a process that died, and only if a look-up does not find it.
pub(super) async fn send_resumed(ports: &Ports, refund: &Refund, until: Timestamp) -> UpstreamResult<UpstreamReturn> {
    let acquirer = match acquirer(ports, refund) {
        Ok(acquirer) => acquirer,
        Err(error) => return UpstreamResult::Unknown(error.to_string()),
    };
    let order = Order { acquirer: &*acquirer, refund };
    match order.look_up().await {
        Evidence::Found(upstream) => UpstreamResult::Known(upstream),
        Evidence::Absent | Evidence::NotRead => send(ports, &*acquirer, refund, Earlier::InFlight, until).await,
        Evidence::Unreadable(reason) => UpstreamResult::Unknown(reason),
    }
}

/// Sends a refund, unless `until` is over: then other nodes rely on no further request of this one.
pub(super) async fn send(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    refund: &Refund,
    earlier: Earlier,
    until: Timestamp,
) -> UpstreamResult<UpstreamReturn> {
    let reply = if ports.clock.now() >= until {
        Err(AcquirerError::OutcomeUnknown("the process slept until it was too late to send".to_owned()))
    } else {
        match acquirer.send_refund(&order(refund), SEND_BUDGET).await {
            Ok(upstream) if !agrees(refund, &upstream) => Err(AcquirerError::OutcomeUnknown(ANOTHER.to_owned())),
            reply => reply,
        }
    };
    resolve(&Order { acquirer, refund }, earlier, reply.into()).await
}

/// A refund at the acquirer of its Pix.
struct Order<'a> {
    acquirer: &'a dyn Acquirer,
    refund: &'a Refund,
}

/// Why a record of another amount is not believed.
const ANOTHER: &str = "the acquirer has a refund of another amount by that name";

impl Order<'_> {
    /// A record that differs from the order is no evidence of it.
    fn believed(&self, found: Option<UpstreamReturn>) -> Evidence<UpstreamReturn> {
        match found {
            Some(upstream) if agrees(self.refund, &upstream) => Evidence::Found(upstream),
            Some(_) => Evidence::Unreadable(ANOTHER.to_owned()),
            None => Evidence::Absent,
        }
    }
}

impl UpstreamOrder for Order<'_> {
    type Record = UpstreamReturn;

    async fn look_up(&self) -> Evidence<UpstreamReturn> {
        match self.acquirer.find_refund(&self.refund.end_to_end_id, self.refund.id, LOOK_BUDGET).await {
            Ok(found) => self.believed(found),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// The API Pix has no list of returns. The record of a received Pix lists every return of it.
    async fn list(&self) -> Evidence<UpstreamReturn> {
        let returns = match self.acquirer.find_received(&self.refund.end_to_end_id, LOOK_BUDGET).await {
            Ok(Some(received)) => received.payment.returns,
            Ok(None) => return Evidence::Unreadable("the acquirer does not show the Pix itself".to_owned()),
            Err(error) => return Evidence::Unreadable(error.to_string()),
        };
        // Without the name under which it was ordered, a return may be this one.
        let is_nameless = |back: &UpstreamReturn| {
            back.nature == ReturnNature::Ordinary && back.return_id.as_ref().map_or("", ReturnId::as_str) == back.name
        };
        let nameless = returns.iter().any(is_nameless);
        match returns.into_iter().find(|back| back.refund() == Some(self.refund.id)) {
            None if nameless => Evidence::Unreadable("the acquirer shows a return without its name".to_owned()),
            found => self.believed(found),
        }
    }
}

/// Compares the acquirer's record with the refund as it was ordered. Nothing of a record that differs is believed.
pub(super) fn agrees(refund: &Refund, upstream: &UpstreamReturn) -> bool {
    let agrees = upstream.amount == refund.amount;
    if !agrees {
        tracing::error!(
            alert = alerts::REFUND_CONTRADICTED, refund = %refund.id, acquirer = %refund.acquirer, ours = %refund.amount, theirs = %upstream.amount,
            "the acquirer shows a refund with another amount; manual review needed"
        );
    }
    agrees
}

fn order(refund: &Refund) -> RefundOrder {
    RefundOrder {
        id: refund.id,
        end_to_end_id: refund.end_to_end_id.clone(),
        amount: refund.amount,
        description: refund.reason.as_ref().map(|text| text.as_str().to_owned()),
    }
}

//! Sends a refund to the acquirer that received the refunded Pix, and reads the refund there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::refund::{Refund, RefundState, RefundStep};
use cais_ports::{Acquirer, AcquirerError, QueryError, RefundOrder, ReturnNature, UpstreamReturn, alerts};
use jiff::Timestamp;

use super::sync;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{Refreshed, Sent, SyncError, UpstreamOrder, accepted, checked};
use crate::upstream_result::{EarlierRequests, Evidence, SendReply};
use crate::work::{RESEND_AFTER, UNPROVEN_AFTER};

/// The time limit of the request that creates the refund: 5 s of the 10 s within which the API answers a merchant's
/// POST. The other 5 s are for a look-up and two commits.
const SEND_BUDGET: Duration = Duration::from_secs(5);
/// The time limit of one read: a look-up, for example after a lost reply or a refusal, or a read of the received Pix.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(2);

impl UpstreamOrder for Refund {
    type Record = UpstreamReturn;
    type Upstream = dyn Acquirer;

    fn acquirer(&self) -> &AcquirerName {
        &self.acquirer
    }

    fn upstream(&self, ports: &Ports) -> Result<Arc<dyn Acquirer>, AcquirerError> {
        ports.acquirer(self.acquirer())
    }

    async fn request(&self, _: &Ports, acquirer: &Self::Upstream, _: EarlierRequests) -> SendReply<UpstreamReturn> {
        accepted(self, acquirer.send_refund(&order(self), SEND_BUDGET).await)
    }

    async fn look_up(&self, _: &Ports, acquirer: &Self::Upstream) -> Evidence<UpstreamReturn> {
        match acquirer.find_refund(&self.end_to_end_id, self.id, LOOK_UP_BUDGET).await {
            Ok(found) => checked(self, found),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Searches for the refund in the record of the received Pix, which contains all returns of that Pix. The API Pix
    /// has no list of returns.
    async fn list(&self, _: &Ports, acquirer: &Self::Upstream) -> Evidence<UpstreamReturn> {
        let returns = match acquirer.find_received(&self.end_to_end_id, LOOK_UP_BUDGET).await {
            Ok(Some(received)) => received.payment.returns,
            Ok(None) => return Evidence::Unreadable("the acquirer does not show the refunded Pix".to_owned()),
            Err(error) => return Evidence::Unreadable(error.to_string()),
        };
        // If the acquirer shows no identifier of the request, the adapter puts the return id into `name`. Such a return
        // may be this refund.
        let is_nameless = |row: &UpstreamReturn| {
            row.nature == ReturnNature::Ordinary && row.return_id.as_ref().map_or("", ReturnId::as_str) == row.name
        };
        let nameless = returns.iter().any(is_nameless);
        match returns.into_iter().find(|row| row.refund() == Some(self.id)) {
            None if nameless => {
                Evidence::Unreadable("the acquirer shows a return without the identifier of its order".to_owned())
            }
            found => checked(self, found),
        }
    }

    /// Returns whether the record has the refund's amount. If not, raises an alert.
    fn agrees(&self, record: &UpstreamReturn) -> bool {
        let agrees = record.amount == self.amount;
        if !agrees {
            tracing::error!(
                alert = alerts::REFUND_CONTRADICTED, refund = %self.id, acquirer = %self.acquirer, ours = %self.amount, theirs = %record.amount,
                "refund has another amount at its acquirer; manual review needed"
            );
        }
        agrees
    }

    async fn list_due(ports: &Ports, now: Timestamp, limit: u32) -> Result<Vec<Self>, QueryError> {
        ports.queries.list_due_refunds(now, limit).await
    }

    async fn refresh(self, ports: &Ports, budget: Duration) -> Result<Refreshed<Self>, SyncError> {
        match sync::fetch_upstream(ports, &self, budget).await? {
            Some(upstream) => Ok(Refreshed::Shown(sync::apply(ports, self, upstream).await?)),
            None => Ok(Refreshed::Absent(self)),
        }
    }

    async fn apply(self, ports: &Ports, record: UpstreamReturn) -> Result<Self, StoreError> {
        sync::apply(ports, self, record).await
    }

    async fn end_refused(self, ports: &Ports, reason: &str) -> Result<Self, StoreError> {
        sync::end(ports, self, reason).await
    }

    fn sent(&self) -> Option<Sent> {
        let RefundState::Processing { recorded_at, return_id } = &self.state else { return None };
        // The acquirer assigns the return id, so a refund with a return id was shown by the acquirer.
        Some(Sent { recorded_at: *recorded_at, arrives_within: RESEND_AFTER, is_shown: return_id.is_some() })
    }

    fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    fn postponed(self, now: Timestamp) -> Self {
        self.schedule_next_poll(now)
    }

    fn resent(self, now: Timestamp) -> Result<Self, StoreError> {
        match self.send_again(now).map_err(|error| StoreError::Internal(error.to_string()))? {
            RefundStep::Taken(step) => Ok(step.refund),
            RefundStep::AlreadyTaken(refund) => Ok(*refund),
        }
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        now.duration_since(self.created_at) >= UNPROVEN_AFTER
    }

    fn alert_unproven(&self, reason: &str) {
        tracing::error!(
            alert = alerts::REFUND_OUTCOME_UNPROVEN, refund = %self.id, acquirer = %self.acquirer, reason,
            "refund outcome cannot be proven; the refund stays processing and its money stays held"
        );
    }
}

fn order(refund: &Refund) -> RefundOrder {
    RefundOrder {
        id: refund.id,
        end_to_end_id: refund.end_to_end_id.clone(),
        amount: refund.amount,
        description: refund.reason.as_ref().map(|text| text.as_str().to_owned()),
    }
}

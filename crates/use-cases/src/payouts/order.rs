//! Sends a payout to its acquirer, and reads the payout there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::payout::{Payout, PayoutState, PayoutStep};
use cais_ports::{
    Acquirer, AcquirerError, CommitError, ListRequest, PayoutOrder, QueryError, UpstreamPayout, UpstreamProgress,
    alerts,
};
use jiff::{SignedDuration, Timestamp};

use super::decide::why;
use super::poll;
use super::sync::{self, commit_step};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{Refreshed, Sent, StoredRecord as _, SyncError, UpstreamOrder, accepted, checked};
use crate::upstream_result::{EarlierRequests, Evidence, SendReply};
use crate::work::{RESEND_AFTER, UNPROVEN_AFTER};

/// The time for sending an order. The time is short, because this service must answer the merchant's POST within 10 s.
const SEND_BUDGET: Duration = Duration::from_secs(5);
/// The time for a look-up of an order, within the same 10 s as the sending and two commits.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(2);
/// The time for one page of the acquirer's list of sent Pix. Only the worker reads this list, and no merchant waits for
/// it.
const LIST_BUDGET: Duration = Duration::from_secs(5);
/// The search in the acquirer's list begins this long before the creation of the payout, because the acquirer's clock
/// may be behind the local clock.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(10);
/// The largest number of pages that one search reads: 10,000 payouts if a page has 100 rows. A longer list counts as
/// unreadable.
const MAX_LIST_PAGES: u32 = 100;

impl UpstreamOrder for Payout {
    type Record = UpstreamPayout;
    type Upstream = dyn Acquirer;

    fn acquirer(&self) -> &AcquirerName {
        self.state.acquirer()
    }

    fn upstream(&self, ports: &Ports) -> Result<Arc<dyn Acquirer>, AcquirerError> {
        ports.acquirer(self.acquirer())
    }

    async fn request(&self, ports: &Ports, acquirer: &Self::Upstream, _: EarlierRequests) -> SendReply<UpstreamPayout> {
        let reply = match accepted(self, acquirer.send_payout(&order(self), SEND_BUDGET).await) {
            SendReply::Accepted(reply) if reply.progress == UpstreamProgress::Processing => reply,
            reply @ (SendReply::Accepted(_)
            | SendReply::Refused(_)
            | SendReply::NotAccepted(_)
            | SendReply::Unknown(_)) => return reply,
        };
        // A read right after the acceptance may show the recipient and the outcome. If the read shows nothing, the
        // reply is used.
        match self.look_up(ports, acquirer).await {
            Evidence::Found(seen) => {
                let end_to_end_id = seen.end_to_end_id.clone().or(reply.end_to_end_id);
                let recipient = reply.recipient.or(seen.recipient.clone());
                SendReply::Accepted(UpstreamPayout { end_to_end_id, recipient, ..seen })
            }
            Evidence::Absent | Evidence::Unreadable(_) | Evidence::NotRead => SendReply::Accepted(reply),
        }
    }

    async fn look_up(&self, _: &Ports, acquirer: &Self::Upstream) -> Evidence<UpstreamPayout> {
        match acquirer.find_payout(&self.instruction_id(), LOOK_UP_BUDGET).await {
            Ok(found) => checked(self, found),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Searches the list from shortly before the creation of the payout until now. Every request for the payout was
    /// sent in this period.
    async fn list(&self, ports: &Ports, acquirer: &Self::Upstream) -> Evidence<UpstreamPayout> {
        let from = self.created_at.saturating_sub(CLOCK_DIFFERENCE).unwrap_or(Timestamp::MIN);
        let (to, name) = (ports.clock.now(), self.instruction_id());
        let (mut page, mut unreadable) = (0, None);
        for _ in 0..MAX_LIST_PAGES {
            let listed = match acquirer.list_sent(ListRequest { from, to, page }, LIST_BUDGET).await {
                Ok(listed) => listed,
                Err(error) => return Evidence::Unreadable(error.to_string()),
            };
            if let Some(row) = listed.rows.into_iter().find(|row| row.instruction_id == name) {
                return checked(self, Some(row));
            }
            // An unreadable row may be the row of this payout.
            unreadable = unreadable.or(listed.unreadable.into_iter().next());
            match listed.next {
                None => {
                    return match unreadable {
                        None => Evidence::Absent,
                        Some(row) => {
                            Evidence::Unreadable(format!("row {} of the list cannot be read: {}", row.name, row.reason))
                        }
                    };
                }
                Some(next) if next > page => page = next,
                Some(next) => {
                    return Evidence::Unreadable(format!("page {page} of the list names page {next} as the next page"));
                }
            }
        }
        Evidence::Unreadable(format!("the list has more than {MAX_LIST_PAGES} pages"))
    }

    /// Returns whether the record has the payout's amount and instruction id. If not, raises an alert.
    fn agrees(&self, record: &UpstreamPayout) -> bool {
        let agrees = record.amount == self.terms.amount && record.instruction_id == self.instruction_id();
        if !agrees {
            tracing::error!(
                alert = alerts::PAYOUT_CONTRADICTED, payout = %self.id, acquirer = %self.acquirer(), ours = %self.terms.amount, theirs = %record.amount,
                instruction_id = %record.instruction_id, "payout has another amount or instruction id at its acquirer; the record is not applied"
            );
        }
        agrees
    }

    async fn list_due(ports: &Ports, now: Timestamp, limit: u32) -> Result<Vec<Self>, QueryError> {
        ports.queries.list_due_payouts(now, limit).await
    }

    async fn read_lists(
        ports: &Ports,
        acquirer: &AcquirerName,
        payouts: Vec<Self>,
    ) -> Vec<(Self, Option<UpstreamPayout>)> {
        poll::read_lists(ports, acquirer, payouts).await
    }

    async fn refresh(self, ports: &Ports, budget: Duration) -> Result<Refreshed<Self>, SyncError> {
        match ports.acquirer(self.acquirer())?.find_payout(&self.instruction_id(), budget).await? {
            // A payout that awaits its approval counts as absent. So the worker sends the order again, and this request
            // approves the payout.
            Some(upstream) if upstream.awaits_approval && self.agrees(&upstream) => Ok(Refreshed::Absent(self)),
            Some(upstream) => Ok(Refreshed::Shown(sync::apply(ports, self, &upstream).await?)),
            None => Ok(Refreshed::Absent(self)),
        }
    }

    async fn apply(self, ports: &Ports, record: UpstreamPayout) -> Result<Self, StoreError> {
        sync::apply(ports, self, &record).await
    }

    async fn end_refused(self, ports: &Ports, reason: &str) -> Result<Self, StoreError> {
        let step = self.clone().fail(why(Some(reason)), ports.clock.now())?;
        match commit_step(ports, step).await {
            Ok(failed) => Ok(failed),
            // Another process has changed the payout at the same time.
            Err(CommitError::Stale) => self.reread(ports).await,
            Err(error) => Err(error.into()),
        }
    }

    fn sent(&self) -> Option<Sent> {
        let PayoutState::Processing(sent) = &self.state else { return None };
        // The acquirer assigns the end-to-end id, so a payout with an end-to-end id was shown by the acquirer.
        Some(Sent {
            recorded_at: sent.recorded_at,
            arrives_within: RESEND_AFTER,
            is_shown: sent.end_to_end_id.is_some(),
        })
    }

    fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    fn postponed(self, now: Timestamp) -> Self {
        self.schedule_next_poll(now)
    }

    fn resent(self, now: Timestamp) -> Result<Self, StoreError> {
        match self.send_again(now)? {
            PayoutStep::Taken { payout, .. } | PayoutStep::AlreadyTaken(payout) => Ok(payout),
        }
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        now.duration_since(self.created_at) >= UNPROVEN_AFTER
    }

    fn alert_unproven(&self, reason: &str) {
        tracing::error!(
            alert = alerts::PAYOUT_OUTCOME_UNPROVEN, payout = %self.id, acquirer = %self.acquirer(), reason,
            "payout outcome cannot be proven; the payout stays processing and its money stays held"
        );
    }
}

fn order(payout: &Payout) -> PayoutOrder {
    PayoutOrder {
        instruction_id: payout.instruction_id(),
        amount: payout.terms.amount,
        pix_key: payout.terms.pix_key.clone(),
        recipient_document: payout.terms.recipient_document.clone(),
        description: payout.terms.description.as_ref().map(|text| text.as_str().to_owned()),
    }
}

//! Sends a defense to its acquirer, and searches for the defense there. Acquirers show infractions only in lists.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::infraction::{Infraction, InfractionStep};
use cais_ports::{
    Acquirer, AcquirerError, DefenseReceipt, QueryError, UpstreamInfraction, UpstreamInfractionStatus, alerts,
};
use jiff::{SignedDuration, Timestamp};

use super::defense::{note_receipt, order, withdraw};
use super::fetch::{BACKGROUND_DEADLINE, REQUEST_DEADLINE, ReadDeadline, fetch_upstream};
use super::reconcile_status::{awaits_receipt, shows_a_defense};
use super::sync;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{Refreshed, Sent, StoredRecord as _, SyncError, UpstreamOrder};
use crate::upstream_result::{EarlierRequests, Evidence, SendReply};
use crate::work::{AT_ONCE, RESEND_AFTER};

/// The time for the request that sends a defense: a part of the 10 s within which this service answers a POST.
const SEND_BUDGET: Duration = Duration::from_secs(5);

/// The smallest result of [`time_to_arrive`]. A request begins in the first half of this time. The second half is as
/// long as the request may take ([`SEND_BUDGET`]). Clocks of nodes can differ by more than this time, so requests of
/// two nodes can overlap. An overlap is harmless, because an acquirer accepts one defense per infraction.
const MIN_TIME_TO_ARRIVE: SignedDuration = SignedDuration::from_secs(10);

/// After this number of checks without a result, an operator is alerted. The pauses between checks double from 2 s, so
/// eight checks take about five minutes.
const UNPROVEN_ATTEMPTS: u32 = 8;
/// The reason of a refusal if the acquirer reports that the deadline has passed.
pub(super) const DEADLINE_PASSED: &str = "the deadline has passed";

/// The acquirer's evidence of a defense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DefenseRecord {
    /// The acquirer confirmed the receipt.
    Receipt,
    /// The infraction, as the acquirer's list shows it with a defense.
    Listed(Box<UpstreamInfraction>),
}

/// The order is the infraction's defense.
impl UpstreamOrder for Infraction {
    type Record = DefenseRecord;
    type Upstream = dyn Acquirer;

    const POLLS_AT_ONCE: Option<usize> = Some(AT_ONCE);

    fn acquirer(&self) -> &AcquirerName {
        &self.acquirer
    }

    fn upstream(&self, ports: &Ports) -> Result<Arc<dyn Acquirer>, AcquirerError> {
        ports.acquirer(&self.acquirer)
    }

    async fn request(
        &self,
        ports: &Ports,
        acquirer: &Self::Upstream,
        earlier: EarlierRequests,
    ) -> SendReply<DefenseRecord> {
        let Some(order) = order(self) else {
            return SendReply::Unknown("the infraction has no defense to send".to_owned());
        };
        match acquirer.send_defense(&order, SEND_BUDGET).await {
            Ok(DefenseReceipt::Taken) => SendReply::Accepted(DefenseRecord::Receipt),
            Ok(DefenseReceipt::AlreadyThere) if earlier == EarlierRequests::None => {
                SendReply::Unknown("the infraction has a defense".to_owned())
            }
            // The acquirer has a defense, and an earlier request of this service may have delivered it. If the list
            // shows no other defense, the defense counts as delivered by that request.
            Ok(DefenseReceipt::AlreadyThere) => match find_upstream(ports, acquirer, self, BACKGROUND_DEADLINE).await {
                Ok(Some(upstream)) if shows_a_defense(&upstream) => {
                    SendReply::Accepted(DefenseRecord::Listed(Box::new(upstream)))
                }
                Ok(_) => SendReply::Accepted(DefenseRecord::Receipt),
                Err(error) => SendReply::Unknown(error.to_string()),
            },
            Ok(DefenseReceipt::TooLate) => SendReply::Refused(DEADLINE_PASSED.to_owned()),
            Err(error) => SendReply::from(Err(error)),
        }
    }

    /// Reads the list. An infraction that is missing in the list proves nothing. After the first request, the merchant
    /// still waits for the response, so this read has shorter limits.
    async fn look_up(&self, ports: &Ports, acquirer: &Self::Upstream) -> Evidence<DefenseRecord> {
        let is_first = self.attempts == 0;
        let deadline = if is_first { REQUEST_DEADLINE } else { BACKGROUND_DEADLINE };
        match find_upstream(ports, acquirer, self, deadline).await {
            Ok(Some(upstream)) if shows_a_defense(&upstream) => {
                Evidence::Found(DefenseRecord::Listed(Box::new(upstream)))
            }
            // `Undecided` does not show whether there is a defense, and an earlier request may have delivered one.
            Ok(Some(upstream)) if !is_first && upstream.status == UpstreamInfractionStatus::Undecided => {
                Evidence::Unreadable("the acquirer does not show defenses".to_owned())
            }
            Ok(Some(_)) => Evidence::Absent,
            Ok(None) => Evidence::Unreadable("the acquirer does not list the infraction".to_owned()),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Makes no second read. This function is called only after the look-up has found no defense in the list.
    async fn list(&self, _: &Ports, _: &Self::Upstream) -> Evidence<DefenseRecord> {
        Evidence::LIST_NOT_NEEDED
    }

    /// Makes no comparison: the look-up finds an infraction by its id, and `sync::apply` compares the rest of its
    /// record.
    fn agrees(&self, _: &DefenseRecord) -> bool {
        true
    }

    async fn list_due(ports: &Ports, now: Timestamp, limit: u32) -> Result<Vec<Self>, QueryError> {
        ports.queries.list_due_infractions(now, limit).await
    }

    /// Reads the acquirer's list. The limits are those of a worker, because a list needs more time than one record.
    async fn refresh(self, ports: &Ports, _: Duration) -> Result<Refreshed<Self>, SyncError> {
        let acquirer = self.upstream(ports)?;
        if let Some(upstream) = find_upstream(ports, &*acquirer, &self, BACKGROUND_DEADLINE).await? {
            sync::apply(ports, &self.acquirer, upstream).await?;
        }
        let after = self.reread(ports).await?;
        Ok(if awaits_receipt(&after) { Refreshed::Absent(after) } else { Refreshed::Shown(after) })
    }

    async fn apply(self, ports: &Ports, record: DefenseRecord) -> Result<Self, StoreError> {
        match record {
            DefenseRecord::Receipt => note_receipt(ports, &self).await,
            DefenseRecord::Listed(upstream) => match sync::apply(ports, &self.acquirer, *upstream).await {
                Ok(_) => self.reread(ports).await,
                Err(SyncError::Store(error)) => Err(error),
                Err(error @ (SyncError::Upstream(_) | SyncError::Unknown)) => {
                    Err(StoreError::Unavailable(error.to_string()))
                }
            },
        }
    }

    /// Withdraws the defense, so that the merchant can submit another one.
    async fn end_refused(self, ports: &Ports, reason: &str) -> Result<Self, StoreError> {
        let after = withdraw(ports, &self).await?;
        if after.defense.is_none() {
            tracing::error!(alert = alerts::DEFENSE_REFUSED, infraction = %self.id, acquirer = %self.acquirer, reason, "defense refused by its acquirer; the infraction is undefended again");
        }
        Ok(after)
    }

    fn sent(&self) -> Option<Sent> {
        let sent_at = self.defense.as_ref().filter(|_| awaits_receipt(self))?.sent_at;
        let arrives_within = time_to_arrive(self.deadline_at, sent_at);
        Some(Sent { recorded_at: sent_at, arrives_within, is_shown: false })
    }

    fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    fn postponed(self, now: Timestamp) -> Self {
        self.schedule_next_poll(now)
    }

    fn resent(self, now: Timestamp) -> Result<Self, StoreError> {
        Ok(match self.send_again(now)? {
            InfractionStep::Taken(step) => step.infraction,
            InfractionStep::AlreadyTaken(infraction) => *infraction,
        })
    }

    fn is_overdue(&self, _: Timestamp) -> bool {
        self.attempts >= UNPROVEN_ATTEMPTS
    }

    fn alert_unproven(&self, reason: &str) {
        tracing::error!(
            alert = alerts::DEFENSE_OUTCOME_UNPROVEN, infraction = %self.id, acquirer = %self.acquirer, reason,
            "defense outcome cannot be proven; the defense stays unconfirmed"
        );
    }
}

/// Returns the infraction as its acquirer's list shows it now, if the list contains it.
pub(super) async fn find_upstream(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    infraction: &Infraction,
    deadline: ReadDeadline,
) -> Result<Option<UpstreamInfraction>, AcquirerError> {
    let (opened_at, now) = (Some(infraction.opened_at), ports.clock.now());
    fetch_upstream(acquirer, &infraction.upstream_id, opened_at, now, deadline).await
}

/// Returns the time in which a defense can still arrive: half of the time from sending to the deadline, at least
/// [`MIN_TIME_TO_ARRIVE`] and at most one minute. Without a deadline, the time is one minute. So a second attempt is
/// possible, unless the deadline is too near.
fn time_to_arrive(deadline: Option<Timestamp>, sent_at: Timestamp) -> SignedDuration {
    let half = deadline.map(|deadline| deadline.duration_since(sent_at) / 2);
    half.unwrap_or(RESEND_AFTER).clamp(MIN_TIME_TO_ARRIVE, RESEND_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defense_near_deadline_is_sent_again_in_time() {
        let at = |second: i64| Timestamp::from_second(1_760_000_000 + second).ok();
        let after = |deadline: Option<Timestamp>| time_to_arrive(deadline, at(0).unwrap_or_default()).as_secs();
        assert_eq!([after(None), after(at(86_400)), after(at(120))], [60, 60, 60]);
        assert_eq!([after(at(40)), after(at(20)), after(at(5)), after(at(-5))], [20, 10, 10, 10]);
    }
}

//! Sends a withdrawal to the processor once, and reads the withdrawal there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalState};
use cais_ports::{AcquirerError, CryptoProcessor, CryptoWithdrawalOrder, QueryError, UpstreamWithdrawal, alerts};
use jiff::Timestamp;

use super::sync;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{Refreshed, Sent, SyncError, UpstreamOrder, accepted, checked};
use crate::upstream_result::{EarlierRequests, Evidence, SendReply};
use crate::work::{RESEND_AFTER, UNPROVEN_AFTER};

/// The time for the request that creates the withdrawal: a part of the 10 s within which this service answers a POST.
/// The read of the prices before it may take 3 s.
const SEND_BUDGET: Duration = Duration::from_secs(4);
/// The time for a look-up within the same 10 s, for example after a lost reply.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(2);

impl UpstreamOrder for Withdrawal {
    type Record = UpstreamWithdrawal;
    type Upstream = dyn CryptoProcessor;

    /// If an order is sent a second time, the processor creates a second withdrawal.
    const IS_REPEATABLE: bool = false;

    fn acquirer(&self) -> &AcquirerName {
        &self.processor
    }

    fn upstream(&self, ports: &Ports) -> Result<Arc<dyn CryptoProcessor>, AcquirerError> {
        ports.crypto_processor(&self.processor)
    }

    async fn request(
        &self,
        _: &Ports,
        processor: &Self::Upstream,
        _: EarlierRequests,
    ) -> SendReply<UpstreamWithdrawal> {
        let order =
            CryptoWithdrawalOrder { id: self.id, amount: self.price.coins, address: self.terms.address.clone() };
        accepted(self, processor.create_withdrawal(&order, SEND_BUDGET).await)
    }

    async fn look_up(&self, _: &Ports, processor: &Self::Upstream) -> Evidence<UpstreamWithdrawal> {
        match processor.find_withdrawal(self.id, LOOK_UP_BUDGET).await {
            Ok(found) => checked(self, found),
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Returns whether the record has the identifiers, the coins and the address of the order. If not, raises an alert.
    fn agrees(&self, record: &UpstreamWithdrawal) -> bool {
        let batch = self.state.sent().and_then(|sent| sent.batch.as_ref());
        let agrees = record.order.is_none_or(|order| order == self.id)
            && batch.is_none_or(|batch| *batch == record.batch)
            && record.amount == self.price.coins
            && record.address == self.terms.address;
        if !agrees {
            tracing::error!(
                alert = alerts::CRYPTO_WITHDRAWAL_CONTRADICTED, withdrawal = %self.id, processor = %self.processor,
                ours = %self.price.coins, theirs = %record.amount, address = %record.address, batch = %record.batch,
                "withdrawal has other coins, another address or another batch at the processor; the record is not applied"
            );
        }
        agrees
    }

    async fn list_due(ports: &Ports, now: Timestamp, limit: u32) -> Result<Vec<Self>, QueryError> {
        ports.queries.list_due_crypto_withdrawals(now, limit).await
    }

    async fn refresh(self, ports: &Ports, budget: Duration) -> Result<Refreshed<Self>, SyncError> {
        // A record that differs from the order is treated like a missing record.
        let found = sync::search(ports, &self, budget).await?.filter(|record| self.agrees(record));
        let Some(record) = found else {
            return Ok(Refreshed::Absent(sync::mark_absent(ports, self).await?));
        };
        let after = sync::apply(ports, self, &record).await?;
        let after = sync::verify(ports, after, &record).await?;
        if after.state.review_since().is_some() {
            after.alert_unproven(
                record.error.as_deref().unwrap_or("the processor shows the withdrawal without an outcome"),
            );
        }
        Ok(Refreshed::Shown(after))
    }

    async fn apply(self, ports: &Ports, record: UpstreamWithdrawal) -> Result<Self, StoreError> {
        sync::apply(ports, self, &record).await
    }

    fn sent(&self) -> Option<Sent> {
        let WithdrawalState::Processing { sent, .. } = &self.state else { return None };
        Some(Sent { recorded_at: sent.recorded_at, arrives_within: RESEND_AFTER, is_shown: sent.batch.is_some() })
    }

    fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    fn postponed(self, now: Timestamp) -> Self {
        self.schedule_next_poll(now)
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        now.duration_since(self.created_at) >= UNPROVEN_AFTER
    }

    fn alert_unproven(&self, reason: &str) {
        tracing::error!(
            alert = alerts::CRYPTO_WITHDRAWAL_NEEDS_REVIEW, withdrawal = %self.id, account = %self.account,
            processor = %self.processor, reason, "withdrawal has no proven outcome; the withdrawal stays processing and its money stays held"
        );
    }
}

//! Requests a deposit from the processor, and reads the deposit there.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::{Deposit, DepositState};
use cais_ports::{AcquirerError, CryptoDepositOrder, CryptoProcessor, QueryError, UpstreamDeposit, alerts};
use jiff::Timestamp;

use super::sync;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{Refreshed, Sent, SyncError, UpstreamOrder, accepted};
use crate::upstream_result::{EarlierRequests, Evidence, SendReply};
use crate::work::{RESEND_AFTER, UNPROVEN_AFTER};

/// The time for the request that creates the deposit. This service answers a POST within 10 s. Before this request, the
/// prices are read, which may take 3 s of them.
const SEND_BUDGET: Duration = Duration::from_secs(4);
/// The time for a look-up within the same 10 s.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(2);

/// A repeated request creates a second address at the processor. Payers see only one address: the one that the second
/// commit of the creation stores.
impl UpstreamOrder for Deposit {
    type Record = UpstreamDeposit;
    type Upstream = dyn CryptoProcessor;

    fn acquirer(&self) -> &AcquirerName {
        &self.processor
    }

    fn upstream(&self, ports: &Ports) -> Result<Arc<dyn CryptoProcessor>, AcquirerError> {
        ports.crypto_processor(&self.processor)
    }

    async fn request(&self, _: &Ports, processor: &Self::Upstream, _: EarlierRequests) -> SendReply<UpstreamDeposit> {
        let order = CryptoDepositOrder { id: self.id, amount: self.price.coins };
        accepted(self, processor.create_deposit(&order, SEND_BUDGET).await)
    }

    /// A record with another amount was created at an earlier price. No payer has seen its address, so it counts as
    /// absent.
    async fn look_up(&self, _: &Ports, processor: &Self::Upstream) -> Evidence<UpstreamDeposit> {
        match processor.find_deposit(self.id, LOOK_UP_BUDGET).await {
            Ok(Some(record)) if self.agrees(&record) => Evidence::Found(record),
            Ok(Some(_) | None) => Evidence::Absent,
            Err(error) => Evidence::Unreadable(error.to_string()),
        }
    }

    /// Returns whether the processor's record has the data of the order.
    fn agrees(&self, record: &UpstreamDeposit) -> bool {
        record.order == Some(self.id)
            && record.parent.is_none()
            && record.asked == Some(self.price.coins)
            && record.address.is_some()
    }

    async fn list_due(ports: &Ports, now: Timestamp, limit: u32) -> Result<Vec<Self>, QueryError> {
        ports.queries.list_due_crypto_deposits(now, limit).await
    }

    async fn refresh(self, ports: &Ports, budget: Duration) -> Result<Refreshed<Self>, SyncError> {
        sync::refresh(ports, self, budget).await.map(Refreshed::Shown)
    }

    async fn apply(self, ports: &Ports, record: UpstreamDeposit) -> Result<Self, StoreError> {
        sync::apply(ports, self, &record).await
    }

    fn sent(&self) -> Option<Sent> {
        self.due_at.map(|_| Sent { recorded_at: self.created_at, arrives_within: RESEND_AFTER, is_shown: true })
    }

    fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    fn postponed(self, now: Timestamp) -> Self {
        self.schedule_next_poll(now)
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        match &self.state {
            DepositState::Pending(issued) | DepositState::Confirming(issued) => {
                now.duration_since(issued.expires_at) >= UNPROVEN_AFTER
            }
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Expired { .. }
            | DepositState::Failed { .. }
            | DepositState::Refunded { .. } => false,
        }
    }

    fn alert_unproven(&self, reason: &str) {
        tracing::error!(
            alert = alerts::CRYPTO_DEPOSIT_NOT_SHOWN, deposit = %self.id, processor = %self.processor, reason,
            "deposit not shown by its processor; the deposit stays open"
        );
    }
}

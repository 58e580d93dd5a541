//! Implements `KeyedResource` for refunds: a refund is created under an idempotency key, and each step is committed
//! with its charge.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundError, RefundStatus, RefundStep};
use cais_ports::{ChangeSet, ReservationKey, UpstreamReturn};
use jiff::Timestamp;

use super::changes::{change_set, charge_of, unless_outdated};
use super::decide::{alert_contradiction, decide};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{CreationState, KeyedResource, StoredRecord as _, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

impl KeyedResource for Refund {
    type Reply = UpstreamResult<UpstreamReturn>;

    /// Each refund changes its charge when it begins and when it ends. With this number of passes, a hundred concurrent
    /// refunds of one charge succeed.
    const MAX_PASSES: usize = 256;

    fn creation_state(&self) -> CreationState {
        match self.state.status() {
            RefundStatus::Pending => CreationState::Creating,
            RefundStatus::Abandoned => CreationState::Abandoned,
            RefundStatus::Processing | RefundStatus::Completed | RefundStatus::Failed => CreationState::Visible,
        }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey {
        ReservationKey::RefundExternalId(account, external_id)
    }

    fn held(&self) -> Result<Money, StoreError> {
        Ok(self.amount)
    }

    fn render(&self, ports: &Ports) -> Vec<u8> {
        ports.representation.refund(self)
    }

    async fn send_upstream(&self, ports: &Ports, earlier: EarlierRequests, until: Timestamp) -> Self::Reply {
        send_begun(ports, self, earlier, until).await
    }

    async fn settle(
        self,
        ports: &Ports,
        reply: &Self::Reply,
        now: Timestamp,
    ) -> Result<Option<(Self, ChangeSet)>, StoreError> {
        let charge = charge_of(ports, &self).await?;
        match decide(self.clone(), charge, reply, now) {
            Ok(RefundStep::Taken(step)) => {
                let change = change_set(ports, &step, now).await?;
                Ok(Some((step.refund.stored(), change)))
            }
            Ok(RefundStep::AlreadyTaken(refund)) => Ok(Some((*refund, ChangeSet::new(now)))),
            // The outcome was known before the reply came.
            Err(RefundError::InvalidState(_)) => {
                alert_contradiction(&self, reply);
                Ok(Some((self, ChangeSet::new(now))))
            }
            Err(error) => unless_outdated(ports, &self, error).await.map(|()| None),
        }
    }
}

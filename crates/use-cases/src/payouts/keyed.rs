//! Implements `KeyedResource` for payouts. A payout is created under an idempotency key, and its creation moves the
//! amount and the fee to `in_transit`.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{ChangeSet, ReservationKey, UpstreamPayout};
use jiff::Timestamp;

use super::changes::Steps;
use super::decide::decide;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{CreationState, KeyedResource, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

impl KeyedResource for Payout {
    type Reply = UpstreamResult<UpstreamPayout>;

    fn creation_state(&self) -> CreationState {
        match self.state.status() {
            PayoutStatus::Pending => CreationState::Creating,
            PayoutStatus::Abandoned => CreationState::Abandoned,
            PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => {
                CreationState::Visible
            }
        }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.terms.external_id.as_ref()
    }

    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey {
        ReservationKey::PayoutExternalId(account, external_id)
    }

    fn held(&self) -> Result<Money, StoreError> {
        self.terms.gross().map_err(|error| StoreError::Internal(error.to_string()))
    }

    fn render(&self, ports: &Ports) -> Vec<u8> {
        ports.representation.payout(self)
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
        let mut steps = Steps::begin(ports, decide(self, reply, now)?, now);
        if let UpstreamResult::Known(upstream) = reply {
            // A part of the payout may have been returned before the reply came.
            steps.credit_returns(ports, &upstream.returned).await?;
        }
        let (change, after) = steps.done();
        Ok(Some((after, change)))
    }
}

//! Implements `KeyedResource` for withdrawals. A withdrawal is created under an idempotency key, and its creation moves
//! the amount and the fee to `in_transit`.

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, ReservationKey, UpstreamWithdrawal};
use jiff::Timestamp;

use super::decide::decide;
use super::sync::verify;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{CreationState, KeyedResource, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

impl KeyedResource for Withdrawal {
    type Reply = UpstreamResult<UpstreamWithdrawal>;

    fn creation_state(&self) -> CreationState {
        match self.state.status() {
            WithdrawalStatus::Pending => CreationState::Creating,
            WithdrawalStatus::Abandoned => CreationState::Abandoned,
            WithdrawalStatus::Processing | WithdrawalStatus::Completed | WithdrawalStatus::Failed => {
                CreationState::Visible
            }
        }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.terms.external_id.as_ref()
    }

    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey {
        ReservationKey::CryptoWithdrawalExternalId(account, external_id)
    }

    fn held(&self) -> Result<Money, StoreError> {
        self.gross().map_err(|error| StoreError::Internal(error.to_string()))
    }

    fn render(&self, ports: &Ports) -> Vec<u8> {
        ports.representation.crypto_withdrawal(self)
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
        let (change, after) = decide(self, reply, now)?.done(ports, now);
        Ok(Some((after, change)))
    }

    /// Verifies the withdrawal at the processor. The verification needs the id of the processor's batch, which the
    /// commit before this step has stored.
    async fn follow_up(self, ports: &Ports, reply: &Self::Reply) -> Result<(), StoreError> {
        if let UpstreamResult::Known(upstream) = reply {
            verify(ports, self, upstream).await?;
        }
        Ok(())
    }
}

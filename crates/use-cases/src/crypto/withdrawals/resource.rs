//! A withdrawal as a resource that is created under an idempotency key.

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalError, WithdrawalState, WithdrawalStatus};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, ReservationKey, UpstreamWithdrawal};
use jiff::Timestamp;

use super::steps::Steps;
use super::sync::{judge, verify, why};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{KeyedResource, Standing, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

impl KeyedResource for Withdrawal {
    type Reply = UpstreamResult<UpstreamWithdrawal>;

    fn standing(&self) -> Standing {
        match self.state.status() {
            WithdrawalStatus::Pending => Standing::Creating,
            WithdrawalStatus::Abandoned => Standing::Abandoned,
            WithdrawalStatus::Processing | WithdrawalStatus::Completed | WithdrawalStatus::Failed => Standing::Visible,
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

    /// Verifies the withdrawal. Commit 2 has stored its batch.
    async fn follow_up(self, ports: &Ports, reply: &Self::Reply) -> Result<(), StoreError> {
        if let UpstreamResult::Known(upstream) = reply {
            verify(ports, &self, upstream).await;
        }
        Ok(())
    }
}

/// Returns the steps that follow from the reply. A callback may have changed the withdrawal since the request.
fn decide(
    withdrawal: Withdrawal,
    reply: &UpstreamResult<UpstreamWithdrawal>,
    now: Timestamp,
) -> Result<Steps, WithdrawalError> {
    let is_begun = withdrawal.state == WithdrawalState::Pending;
    let steps = Steps::none(withdrawal);
    match reply {
        UpstreamResult::Known(upstream) => judge(steps, upstream, now),
        // The processor has shown the withdrawal meanwhile. That record outweighs a refusal.
        UpstreamResult::Refused(_)
        | UpstreamResult::NotAccepted(_)
        | UpstreamResult::Unknown(_)
        | UpstreamResult::RefusedUnproven(_)
            if !is_begun =>
        {
            Ok(steps)
        }
        UpstreamResult::Refused(reason) => steps.then(|begun| begun.fail(why(Some(reason)), now)),
        UpstreamResult::NotAccepted(_) => steps.then(|begun| begun.abandon(now)),
        UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_) => steps.then(|begun| begun.send(None, now)),
    }
}

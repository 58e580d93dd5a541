//! A payout as a resource that is created under an idempotency key.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutError, PayoutState, PayoutStatus, PayoutStep, Recipient};
use cais_ports::{ChangeSet, ReservationKey, UpstreamPayout};
use jiff::Timestamp;

use super::steps::Steps;
use super::sync::{judge, why};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{KeyedResource, Standing, send_begun};
use crate::upstream_result::{EarlierRequests, UpstreamResult};

impl KeyedResource for Payout {
    type Reply = UpstreamResult<UpstreamPayout>;

    fn standing(&self) -> Standing {
        match self.state.status() {
            PayoutStatus::Pending => Standing::Creating,
            PayoutStatus::Abandoned => Standing::Abandoned,
            PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed => {
                Standing::Visible
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
            // Parts that came back before the reply confirmed the sending.
            steps.take_back(ports, &upstream.returned).await?;
        }
        let (change, after) = steps.done();
        Ok(Some((after, change)))
    }
}

/// Returns the step that follows from the reply. A callback may have changed the payout since the request.
fn decide(payout: Payout, reply: &UpstreamResult<UpstreamPayout>, now: Timestamp) -> Result<PayoutStep, PayoutError> {
    match (reply, &payout.state) {
        (UpstreamResult::Known(upstream), _) => judge(payout, upstream, now),
        (UpstreamResult::Refused(reason), PayoutState::Pending { .. }) => payout.fail(why(Some(reason)), now),
        (UpstreamResult::NotAccepted(_), PayoutState::Pending { .. }) => payout.abandon(now),
        (UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_), PayoutState::Pending { .. }) => {
            payout.send(None, Recipient::default(), now)
        }
        // The acquirer has shown the payout meanwhile. That record outweighs a refusal.
        (
            UpstreamResult::Refused(_)
            | UpstreamResult::NotAccepted(_)
            | UpstreamResult::Unknown(_)
            | UpstreamResult::RefusedUnproven(_),
            PayoutState::Abandoned { .. }
            | PayoutState::Processing(_)
            | PayoutState::Completed { .. }
            | PayoutState::Failed { .. }
            | PayoutState::Reversed { .. },
        ) => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

//! Implements `KeyedResource` for charges: a charge is created under an idempotency key. Its creation holds no money of
//! the merchant.

use cais_domain::charge::{Charge, ChargeStatus, Issued, Step};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, IssueError, ReservationKey, UpstreamStatus, Write};
use jiff::Timestamp;

use super::order::{Issuing, request};
use super::sync::apply;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::{CreationState, KeyedResource, StoredRecord as _};
use crate::upstream_result::EarlierRequests;

impl KeyedResource for Charge {
    type Reply = Issuing;

    fn creation_state(&self) -> CreationState {
        match self.state.status() {
            ChargeStatus::Creating => CreationState::Creating,
            ChargeStatus::Abandoned => CreationState::Abandoned,
            ChargeStatus::Pending
            | ChargeStatus::Paid
            | ChargeStatus::Expired
            | ChargeStatus::Cancelled
            | ChargeStatus::Refunded => CreationState::Visible,
        }
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.terms.external_id.as_ref()
    }

    fn external_id_key(account: AccountId, external_id: ExternalId) -> ReservationKey {
        ReservationKey::ChargeExternalId(account, external_id)
    }

    fn held(&self) -> Result<Money, StoreError> {
        Ok(Money::ZERO)
    }

    fn render(&self, ports: &Ports) -> Vec<u8> {
        ports.representation.charge(self)
    }

    fn has_acquirer(ports: &Ports) -> bool {
        ports.acquirers.is_available()
    }

    /// Ignores the time limit for sending. A late second request to the same acquirer has the same txid, so it creates
    /// no second charge.
    async fn send_upstream(&self, ports: &Ports, earlier: EarlierRequests, _: Timestamp) -> Self::Reply {
        request(ports, self, earlier).await
    }

    async fn settle(
        self,
        _: &Ports,
        reply: &Self::Reply,
        now: Timestamp,
    ) -> Result<Option<(Self, ChangeSet)>, StoreError> {
        let mut change = ChangeSet::new(now);
        // If a callback came before the reply, the acquirer's record has been applied already, and no step is left.
        if self.state.issued().is_some() {
            return Ok(Some((self, change)));
        }
        let step = match reply {
            Ok((acquirer, upstream)) => match upstream.copy_paste.clone() {
                Some(copy_paste) => {
                    let (acquirer, expires_at) = (acquirer.clone(), upstream.expires_at);
                    self.issue(Issued { acquirer, copy_paste, expires_at })?
                }
                // Without a BR Code, the charge cannot be paid, so it stays in creation.
                None => self.assign_acquirer(acquirer.clone())?,
            },
            Err(IssueError::NoneTook { .. }) => self.abandon(now)?,
            // The charge stays in creation. A worker or a repeat sends the request again, to the acquirer that may have
            // the charge.
            Err(IssueError::Unknown { acquirer, .. }) => self.assign_acquirer(acquirer.clone())?,
        };
        Ok(Some(match step {
            Step::Taken { charge, .. } => {
                change.writes.push(Write::update(charge.clone()));
                (charge.stored(), change)
            }
            Step::AlreadyTaken(charge) => (charge, change),
        }))
    }

    /// Applies a payment or a change of status that the reply already shows. The stored response still shows the charge
    /// as it was created.
    async fn follow_up(self, ports: &Ports, reply: &Self::Reply) -> Result<(), StoreError> {
        if let Ok((acquirer, upstream)) = reply
            && self.state.issued().is_some()
            && (!upstream.payments.is_empty() || upstream.status != UpstreamStatus::Active)
        {
            apply(ports, self, acquirer, upstream).await?;
        }
        Ok(())
    }
}

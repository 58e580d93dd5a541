//! Collects the steps of a payout that follow from one record of its acquirer: the outcome, and each returned part. One
//! commit applies all of them, so a crash cannot lose a part.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::payout::{Payout, PayoutState, PayoutStep};
use cais_ports::{ChangeSet, NewEvent, Reservation, ReservationKey, ReturnedPart, Write, alerts};
use jiff::Timestamp;

use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::StoredRecord as _;

/// Steps that are decided but not committed yet.
#[derive(Debug)]
pub(super) struct Steps {
    payout: Payout,
    /// `true` if a step has changed the payout.
    moved: bool,
    /// All changes except the payout itself.
    change: ChangeSet,
    refused: Vec<ReturnId>,
}

impl Steps {
    /// Starts with the first step, which was applied at `now`.
    pub(super) fn begin(ports: &Ports, step: PayoutStep, now: Timestamp) -> Self {
        let (payout, moved, transfers, event) = match step {
            PayoutStep::Taken { payout, transfers, event } => (payout, true, transfers, event),
            PayoutStep::AlreadyTaken(payout) => (payout, false, Vec::new(), None),
        };
        let mut change = ChangeSet::new(now);
        change.transfers = transfers;
        change.events.extend(event.map(|kind| event_of(ports, &payout, kind, now)));
        Self { payout, moved, change, refused: Vec::new() }
    }

    /// Adds the credit of every returned part that was not credited before.
    pub(super) async fn credit_returns(&mut self, ports: &Ports, parts: &[ReturnedPart]) -> Result<(), StoreError> {
        for part in parts {
            self.credit_one_return(ports, part).await?;
        }
        Ok(())
    }

    async fn credit_one_return(&mut self, ports: &Ports, part: &ReturnedPart) -> Result<(), StoreError> {
        let (id, return_id) = (self.payout.id, &part.return_id);
        let key = ReservationKey::ReturnId(return_id.clone());
        if self.change.reserve.iter().any(|reserved| reserved.key == key) {
            return Ok(());
        }
        if let Some(by) = ports.queries.find_owner(&key).await? {
            if by != id.to_string() {
                tracing::error!(alert = alerts::PAYOUT_RETURN_UNCREDITED, payout = %id, by, %return_id, "return reported for this payout belongs to the payout or refund in `by`; the return was not credited to this payout");
            }
            return Ok(());
        }
        match self.payout.clone().credit_return(part.amount, part.at) {
            Ok(PayoutStep::Taken { payout, transfers, event }) => {
                self.change.reserve.push(Reservation { key, account: payout.account, owner: id.to_string() });
                self.change.transfers.extend(transfers);
                self.change.events.extend(event.map(|kind| event_of(ports, &payout, kind, self.change.at)));
                (self.payout, self.moved) = (payout, true);
            }
            Ok(PayoutStep::AlreadyTaken(payout)) => self.payout = payout,
            Err(error) if matches!(self.payout.state, PayoutState::Processing(_)) => {
                tracing::warn!(payout = %id, %return_id, %error, "payout return not credited yet: end-to-end id still unknown");
            }
            Err(error) => {
                tracing::error!(
                    alert = alerts::PAYOUT_RETURN_UNCREDITED, payout = %id, %return_id, amount = %part.amount, %error,
                    "payout return cannot be credited; an operator must agree on the difference with the merchant"
                );
                self.refused.push(return_id.clone());
            }
        }
        Ok(())
    }

    /// Returns the ids of the returned parts that can never be credited.
    pub(super) fn refused(&self) -> &[ReturnId] {
        &self.refused
    }

    /// Returns all changes to commit together, and the payout as it will be stored. The change set is empty if no step
    /// has changed the payout.
    pub(super) fn done(self) -> (ChangeSet, Payout) {
        let Self { payout, moved, mut change, refused: _ } = self;
        if !moved {
            return (change, payout);
        }
        change.writes.push(Write::update(payout.clone()));
        (change, payout.stored())
    }
}

/// Returns the event that a step of the payout publishes.
fn event_of(ports: &Ports, payout: &Payout, kind: EventType, at: Timestamp) -> NewEvent {
    NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: payout.account,
        kind,
        at,
        resource: payout.id.to_string(),
        data: ports.representation.payout(payout),
        postback: None,
    }
}

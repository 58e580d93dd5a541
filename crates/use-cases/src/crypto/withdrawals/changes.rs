//! Collects the steps of a withdrawal that are committed together.

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalError, WithdrawalStep};
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::ledger::Transfer;
use cais_ports::{ChangeSet, NewEvent, Write};
use jiff::Timestamp;

use crate::ports::Ports;
use crate::upstream_order::StoredRecord as _;

/// Steps that are decided but not committed yet.
#[derive(Debug)]
pub(super) struct Steps {
    withdrawal: Withdrawal,
    /// `true` if a step was applied.
    moved: bool,
    transfers: Vec<Transfer>,
    event: Option<EventType>,
}

impl Steps {
    /// Starts with the withdrawal as it is, before any step.
    pub(super) const fn none(withdrawal: Withdrawal) -> Self {
        Self { withdrawal, moved: false, transfers: Vec::new(), event: None }
    }

    /// Applies a further step, and adds its transfers. Its event, if any, replaces an earlier one. A step that was
    /// taken before changes nothing.
    pub(super) fn then(
        mut self,
        step: impl FnOnce(Withdrawal) -> Result<WithdrawalStep, WithdrawalError>,
    ) -> Result<Self, WithdrawalError> {
        match step(self.withdrawal)? {
            WithdrawalStep::Taken { withdrawal, transfers, event } => {
                self.transfers.extend(transfers);
                Ok(Self { withdrawal: *withdrawal, moved: true, event: event.or(self.event), ..self })
            }
            WithdrawalStep::AlreadyTaken(withdrawal) => Ok(Self { withdrawal: *withdrawal, ..self }),
        }
    }

    /// Returns the withdrawal after the steps.
    pub(super) const fn withdrawal(&self) -> &Withdrawal {
        &self.withdrawal
    }

    /// Returns the changes to commit, and the withdrawal as it will be stored. The change set is empty if no step was
    /// applied.
    pub(super) fn done(self, ports: &Ports, now: Timestamp) -> (ChangeSet, Withdrawal) {
        let Self { withdrawal, moved, transfers, event } = self;
        let mut change = ChangeSet::new(now);
        if !moved {
            return (change, withdrawal);
        }
        change.transfers = transfers;
        change.events.extend(event.map(|kind| NewEvent {
            id: EventId::new(ports.ids.next_uuid()),
            account: withdrawal.account,
            kind,
            at: now,
            resource: withdrawal.id.to_string(),
            data: ports.representation.crypto_withdrawal(&withdrawal),
            postback: None,
        }));
        change.writes.push(Write::update(withdrawal.clone()));
        (change, withdrawal.stored())
    }
}

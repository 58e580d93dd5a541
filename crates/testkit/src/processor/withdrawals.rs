//! The batches of withdrawals, each with one withdrawal.

use std::collections::BTreeMap;

use cais_domain::crypto::{CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{
    AcquirerError, Clock as _, CodeOutcome, CryptoWithdrawalOrder, UpstreamWithdrawal, UpstreamWithdrawalStatus,
};
use jiff::{SignedDuration, Timestamp};

use super::{FakeProcessor, State, down, refused, silent};
use crate::builders::a_processor_id;
use crate::psp::{LATE, LookupReply, OrderReply};

/// The time after which the processor rejects a batch that is not verified.
const UNVERIFIED_FOR: SignedDuration = SignedDuration::from_hours(1);
/// The life of a one-time code, in seconds. Each code is accepted once.
const CODE_S: i64 = 30;

/// A batch with its one withdrawal.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) record: UpstreamWithdrawal,
    created_at: Timestamp,
}

impl Batch {
    pub(super) fn record(&self) -> UpstreamWithdrawal {
        self.record.clone()
    }
}

/// The time of arrival of a late request, and the withdrawal to create.
pub(super) type Late = (Timestamp, CryptoWithdrawalOrder);

impl FakeProcessor {
    /// Sets the reply to orders of deposits and withdrawals.
    pub fn set(&self, creating: OrderReply) {
        self.state().creating = creating;
    }

    /// Sets the reply to verifications.
    pub fn set_verifying(&self, verifying: OrderReply) {
        self.state().verifying = verifying;
    }

    /// Sets the reply to reads of payments and withdrawals.
    pub fn set_lookup_reply(&self, reply: LookupReply) {
        self.state().lookup_reply = reply;
    }

    /// Sets the status of every verified batch without an outcome.
    pub fn settle_open(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            if batch.record.status == UpstreamWithdrawalStatus::Processing {
                batch.record.set(status);
            }
        }
    }

    /// Sets the status of every batch that is `Failed`, as if the processor sent its coins after all, or rejected it.
    pub fn end_failed(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            if batch.record.status == UpstreamWithdrawalStatus::Failed {
                batch.record.set(status);
            }
        }
    }

    /// Sets the status of every batch.
    pub fn set_status(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            batch.record.set(status);
        }
    }

    /// Removes every batch from the records.
    pub fn remove_batches(&self) {
        self.state().batches.clear();
    }

    /// Adds a copy of the last batch with this status and this `order`, as if a repeated request or another system had created it.
    /// Returns the new batch's id. Adds none if there is no batch to copy.
    #[must_use]
    pub fn add_batch(&self, status: UpstreamWithdrawalStatus, order: Option<CryptoWithdrawalId>) -> ProcessorId {
        let (batch, now) = (a_processor_id(), self.clock.now());
        let mut state = self.state();
        if let Some(last) = state.batches.last().cloned() {
            let (id, created_at) = (a_processor_id(), Some(now));
            let mut record = UpstreamWithdrawal { batch: batch.clone(), id, order, created_at, ..last.record };
            record.set(status);
            state.batches.push(Batch { record, created_at: now });
        }
        batch
    }

    /// Changes the record of every batch.
    pub fn change_batches(&self, change: impl Fn(&mut UpstreamWithdrawal)) {
        self.state().batches.iter_mut().for_each(|batch| change(&mut batch.record));
    }

    /// Returns every batch, oldest first.
    #[must_use]
    pub fn batches(&self) -> Vec<UpstreamWithdrawal> {
        self.state().batches.iter().map(Batch::record).collect()
    }

    /// Returns the number of requests to create withdrawals, without those that certainly did not arrive.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.state().requests.values().sum()
    }

    /// Returns the withdrawals whose creation was requested, with the number of requests.
    #[must_use]
    pub fn requests_by_id(&self) -> BTreeMap<CryptoWithdrawalId, u32> {
        self.state().requests.clone()
    }

    /// Returns the number of accepted codes.
    #[must_use]
    pub fn verifications(&self) -> u32 {
        self.state().verifications
    }
}

/// Sets the status of a record, and the fields that a record in this status has.
trait SetStatus {
    fn set(&mut self, status: UpstreamWithdrawalStatus);
}

impl SetStatus for UpstreamWithdrawal {
    fn set(&mut self, status: UpstreamWithdrawalStatus) {
        self.status = status;
        match status {
            UpstreamWithdrawalStatus::Finished => {
                self.tx_hash = Some(format!("tx{}", self.batch));
                self.network_fee = CryptoAmount::parse(self.amount.currency(), "0.000012").ok();
            }
            UpstreamWithdrawalStatus::Rejected | UpstreamWithdrawalStatus::Failed => {
                self.error = Some("no funds\u{0}".to_owned());
            }
            UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Processing => {}
        }
    }
}

impl State {
    fn create(&mut self, order: &CryptoWithdrawalOrder, now: Timestamp) -> UpstreamWithdrawal {
        let record = UpstreamWithdrawal {
            batch: a_processor_id(),
            id: a_processor_id(),
            order: Some(order.id),
            amount: order.amount,
            address: order.address.clone(),
            status: UpstreamWithdrawalStatus::Unverified,
            error: None,
            network_fee: None,
            tx_hash: None,
            created_at: Some(now),
        };
        self.batches.push(Batch { record: record.clone(), created_at: now });
        record
    }

    pub(super) fn create_withdrawal(
        &mut self,
        order: &CryptoWithdrawalOrder,
        now: Timestamp,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        let requests = self.requests.entry(order.id).or_default();
        // A request that certainly did not arrive is not counted, because it may be repeated.
        if self.creating != OrderReply::Down {
            *requests = requests.saturating_add(1);
        }
        match self.creating {
            OrderReply::Accepts => Ok(self.create(order, now)),
            OrderReply::Completes | OrderReply::Fails => {
                let status = if self.creating == OrderReply::Fails {
                    UpstreamWithdrawalStatus::Failed
                } else {
                    UpstreamWithdrawalStatus::Finished
                };
                self.create(order, now);
                let made = self.batches.last_mut().map(|batch| {
                    batch.record.set(status);
                    batch.record.clone()
                });
                made.map_or_else(silent, Ok)
            }
            OrderReply::Down => down(),
            OrderReply::Refuses | OrderReply::TooLate => refused(),
            OrderReply::Silent => silent(),
            OrderReply::LosesReplies => {
                self.create(order, now);
                silent()
            }
            OrderReply::ArrivesLate | OrderReply::ArrivesLateAndRefuses => {
                self.late.push((now + LATE, order.clone()));
                silent()
            }
            OrderReply::WrongAmount => {
                let amount = CryptoAmount::from_units(order.amount.currency(), 1).unwrap_or(order.amount);
                Ok(self.create(&CryptoWithdrawalOrder { amount, ..order.clone() }, now))
            }
            OrderReply::AcceptsAndRefuses => {
                self.create(order, now);
                refused()
            }
        }
    }

    pub(super) fn verify(&mut self, batch: &ProcessorId, at: Timestamp) -> Result<CodeOutcome, AcquirerError> {
        let code = at.as_second().checked_div(CODE_S);
        let unavailable = |reason: &str| Err(AcquirerError::Unavailable(reason.to_owned()));
        match self.verifying {
            OrderReply::Down => return down(),
            OrderReply::Silent | OrderReply::ArrivesLate | OrderReply::ArrivesLateAndRefuses => return silent(),
            OrderReply::Refuses | OrderReply::TooLate | OrderReply::Fails | OrderReply::WrongAmount => {
                return unavailable("wrong code");
            }
            OrderReply::Accepts | OrderReply::Completes | OrderReply::LosesReplies | OrderReply::AcceptsAndRefuses => {}
        }
        if self.last_code == code {
            return Ok(CodeOutcome::UsedBefore);
        }
        let named = self.batches.iter_mut().find(|one| one.record.batch == *batch);
        let Some(named) = named.filter(|one| one.record.status == UpstreamWithdrawalStatus::Unverified) else {
            return unavailable("the batch waits for no code");
        };
        named.record.set(UpstreamWithdrawalStatus::Processing);
        self.last_code = code;
        self.verifications = self.verifications.saturating_add(1);
        if self.verifying == OrderReply::LosesReplies {
            return silent();
        }
        if self.verifying == OrderReply::AcceptsAndRefuses {
            return unavailable("the batch waits for no code");
        }
        Ok(CodeOutcome::Accepted)
    }

    /// Executes late requests that are due, and rejects batches that were not verified within `UNVERIFIED_FOR`.
    pub(super) fn pass_time(&mut self, now: Timestamp) {
        let (arrived, late): (Vec<Late>, _) =
            std::mem::take(&mut self.late).into_iter().partition(|(at, _)| *at <= now);
        self.late = late;
        for (at, order) in arrived {
            self.create(&order, at);
        }
        for batch in &mut self.batches {
            let is_unverified = batch.record.status == UpstreamWithdrawalStatus::Unverified;
            if is_unverified && now.duration_since(batch.created_at) >= UNVERIFIED_FOR {
                batch.record.set(UpstreamWithdrawalStatus::Rejected);
            }
        }
    }
}

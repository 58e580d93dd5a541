//! The batches of withdrawals of the simulated processor.

use std::collections::BTreeMap;

use cais_domain::crypto::{CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{AcquirerError, CryptoWithdrawalOrder, UpstreamWithdrawal, UpstreamWithdrawalStatus};
use jiff::Timestamp;

use crate::builders::a_processor_id;
use crate::psp::{LATE, Looking, Sending};

/// The life of a one-time code, in seconds. Each code is accepted once.
const CODE_S: i64 = 30;

/// A batch with its one withdrawal.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) record: UpstreamWithdrawal,
    pub(super) created_at: Timestamp,
}

/// A request of a creation, and its time of arrival.
pub(super) type Late = (Timestamp, CryptoWithdrawalOrder);

pub(super) struct State {
    pub(super) creating: Sending,
    pub(super) verifying: Sending,
    pub(super) looking: Looking,
    pub(super) accepts_addresses: bool,
    /// Every price read is answered.
    pub(super) prices: bool,
    pub(super) usdt_per_coin: &'static str,
    pub(super) batches: Vec<Batch>,
    pub(super) late: Vec<Late>,
    /// The number of creations that were requested, by our identifier.
    pub(super) requests: BTreeMap<CryptoWithdrawalId, u32>,
    pub(super) verifications: u32,
    pub(super) last_code: Option<i64>,
    pub(super) balances: Vec<CryptoAmount>,
}

/// Sets a status with plausible facts.
pub(super) trait SetStatus {
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

pub(super) fn silent<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::OutcomeUnknown("no answer".to_owned()))
}

pub(super) fn down<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::Unavailable("no connection".to_owned()))
}

impl State {
    pub(super) fn create(&mut self, order: &CryptoWithdrawalOrder, now: Timestamp) -> UpstreamWithdrawal {
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
        };
        self.batches.push(Batch { record: record.clone(), created_at: now });
        record
    }

    pub(super) fn reply(
        &mut self,
        order: &CryptoWithdrawalOrder,
        now: Timestamp,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        let requests = self.requests.entry(order.id).or_default();
        // A request that certainly had no effect may be made again.
        if self.creating != Sending::Down {
            *requests = requests.saturating_add(1);
        }
        let refused = || Err(AcquirerError::Refused("the amount is too small".to_owned()));
        match self.creating {
            Sending::Takes => Ok(self.create(order, now)),
            Sending::Completes | Sending::Fails => {
                let status = if self.creating == Sending::Fails {
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
            Sending::Down => down(),
            Sending::Refuses | Sending::TooLate => refused(),
            Sending::Silent => silent(),
            Sending::LosesReplies => {
                self.create(order, now);
                silent()
            }
            Sending::ArrivesLate | Sending::ArrivesLateAndRefuses => {
                self.late.push((now + LATE, order.clone()));
                silent()
            }
            Sending::Garbles => {
                let amount = CryptoAmount::from_units(order.amount.currency(), 1).unwrap_or(order.amount);
                Ok(self.create(&CryptoWithdrawalOrder { amount, ..order.clone() }, now))
            }
            Sending::TakesAndRefuses => {
                self.create(order, now);
                refused()
            }
        }
    }

    pub(super) fn verify(&mut self, batch: &ProcessorId, at: Timestamp) -> Result<(), AcquirerError> {
        let code = at.as_second().checked_div(CODE_S);
        let refused = |reason: &str| Err(AcquirerError::Unavailable(reason.to_owned()));
        match self.verifying {
            Sending::Down => return down(),
            Sending::Silent | Sending::ArrivesLate | Sending::ArrivesLateAndRefuses => return silent(),
            Sending::Refuses | Sending::TooLate | Sending::Fails | Sending::Garbles => return refused("wrong code"),
            Sending::Takes | Sending::Completes | Sending::LosesReplies | Sending::TakesAndRefuses => {}
        }
        if self.last_code == code {
            return refused("the code was used before");
        }
        let named = self.batches.iter_mut().find(|one| one.record.batch == *batch);
        let Some(named) = named.filter(|one| one.record.status == UpstreamWithdrawalStatus::Unverified) else {
            return refused("the batch waits for no code");
        };
        named.record.set(UpstreamWithdrawalStatus::Processing);
        self.last_code = code;
        self.verifications = self.verifications.saturating_add(1);
        if self.verifying == Sending::LosesReplies {
            return silent();
        }
        if self.verifying == Sending::TakesAndRefuses { refused("the batch waits for no code") } else { Ok(()) }
    }

    pub(super) fn look<T>(&self, read: impl FnOnce(&[Batch]) -> Result<T, AcquirerError>) -> Result<T, AcquirerError> {
        match self.looking {
            Looking::Tells => read(&self.batches),
            Looking::Forgets => read(&[]),
            Looking::Silent => silent(),
            Looking::Down => down(),
        }
    }
}

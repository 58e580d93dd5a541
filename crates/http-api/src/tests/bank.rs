//! The controls of the simulated acquirer, as the sandbox's endpoints use them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{Clock as _, ReturnedPart, UpstreamInfractionStatus, UpstreamPayment, UpstreamProgress};
use cais_testkit::builders::a_return_id;
use cais_testkit::{FakePsp, ManualClock};
use jiff::Timestamp;

use super::super::{
    FaultMode, InfractionRequest, Institution, InstitutionError, PaymentStep, Resolution, SandboxCoin,
    SandboxCoinChange, SandboxDollar, SandboxDollarChange, SandboxNotifications, SandboxNotificationsChange, SentCoins,
    SimulatedProcessor, WithdrawalFailure,
};

/// The simulated acquirer as the institution of the sandbox.
pub struct Bank {
    pub psp: FakePsp,
    pub faults: Mutex<Option<(FaultMode, Duration)>>,
    pub crypto_faults: Mutex<Option<(FaultMode, Duration)>>,
    /// `true` while `return_sent`, `fail_refund` and `resolve_infraction` return success without a change.
    pub hides_changes: AtomicBool,
}

impl Bank {
    pub fn new(psp: FakePsp) -> Self {
        Self { psp, faults: Mutex::new(None), crypto_faults: Mutex::new(None), hides_changes: AtomicBool::new(false) }
    }

    /// Completes every payout and refund in transit.
    pub fn settle(&self) {
        self.psp.settle_open(&UpstreamProgress::Done { at: None });
    }

    fn hides_changes(&self) -> bool {
        self.hides_changes.load(Ordering::SeqCst)
    }

    fn charge_amount(&self, txid: &Txid) -> Money {
        self.psp.charges().into_iter().find(|charge| charge.txid == *txid).unwrap().amount
    }

    fn payment(&self, end_to_end_id: &EndToEndId) -> UpstreamPayment {
        let payments = self.psp.charges().into_iter().flat_map(|charge| charge.payments);
        payments.into_iter().find(|payment| payment.end_to_end_id == *end_to_end_id).unwrap()
    }
}

impl Institution for Bank {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), InstitutionError> {
        let amount = amount.unwrap_or_else(|| self.charge_amount(txid));
        self.psp.pay(txid, amount.centavos());
        Ok(())
    }

    fn expire(&self, txid: &Txid) -> Result<(), InstitutionError> {
        self.psp.change_charge(txid, |charge| charge.expires_at = Timestamp::UNIX_EPOCH);
        Ok(())
    }

    fn return_sent(&self, instruction_id: &InstructionId) -> Result<(), InstitutionError> {
        if self.hides_changes() {
            return Ok(());
        }
        let (return_id, at) = (a_return_id(), ManualClock::default().now());
        self.psp.change_payout(instruction_id, |payout| {
            payout.returned.push(ReturnedPart { return_id, amount: payout.amount, at });
        });
        Ok(())
    }

    fn fail_refund(&self, _: &EndToEndId, _: RefundId) -> Result<(), InstitutionError> {
        if self.hides_changes() {
            return Ok(());
        }
        self.psp.settle_open(&UpstreamProgress::Failed { reason: Some("as asked".to_owned()) });
        Ok(())
    }

    fn open_infraction(
        &self,
        end_to_end_id: &EndToEndId,
        request: InfractionRequest,
    ) -> Result<String, InstitutionError> {
        let paid = self.payment(end_to_end_id).amount;
        let amount = request.amount.unwrap_or(paid);
        if amount > paid {
            return Err(InstitutionError::OutOfRange { path: "amount", rule: "must be at most the paid amount" });
        }
        let id = self.psp.dispute(end_to_end_id, amount.centavos());
        self.psp.change(&id, |row| row.situation = request.situation.unwrap_or(row.situation));
        Ok(id)
    }

    fn resolve_infraction(&self, upstream_id: &str, resolution: Resolution) -> Result<(), InstitutionError> {
        if self.hides_changes() {
            return Ok(());
        }
        let status = match resolution {
            Resolution::Won => UpstreamInfractionStatus::Rejected,
            Resolution::Lost => UpstreamInfractionStatus::Accepted,
            Resolution::Cancelled => UpstreamInfractionStatus::Cancelled,
        };
        self.psp.settle(upstream_id, status);
        Ok(())
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        *self.faults.lock().unwrap() = Some((mode, latency));
        Ok(())
    }

    fn set_clock_offset(&self, _offset_s: i64) -> Result<(), InstitutionError> {
        Ok(())
    }
}

/// The tests of the API use only the simulated failures of the crypto processor.
impl SimulatedProcessor for Bank {
    fn pay(&self, _: &ProcessorId, _: &SentCoins) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn expire(&self, _: &ProcessorId) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn move_payment(&self, _: &ProcessorId, _: PaymentStep) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn fail_withdrawal(&self, _: &ProcessorId, _: WithdrawalFailure) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn set_coin(&self, _: &SandboxCoinChange) -> Result<SandboxCoin, InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn set_dollar(&self, _: &SandboxDollarChange) -> Result<SandboxDollar, InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn set_notifications(&self, _: &SandboxNotificationsChange) -> Result<SandboxNotifications, InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        *self.crypto_faults.lock().unwrap() = Some((mode, latency));
        Ok(())
    }
}

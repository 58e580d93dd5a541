//! The tester's controls: payments, clock, faults, and the ledger.

pub mod http;
pub mod infractions;
pub mod ledger;

use std::sync::Arc;

use cais_domain::{end_to_end_id::EndToEndId, money::Money, txid::Txid};
use jiff::SignedDuration;

use self::ledger::Ledger;
use crate::{
    dialect::Dialect,
    faults::{Fault, FaultTarget, MAX_LATENCY},
    payments::{AMOUNT_LIMIT, PaidPix, PayError},
    psp::{Psp, StoreError},
    refunds::RefundError,
    sends::ReturnSentError,
    state::{change::Change, sent::SentReturn},
};

/// The reason a control operation was not performed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The object does not exist. The text names its kind, such as `the charge`.
    #[error("{0} does not exist")]
    NotFound(&'static str),
    /// The object's current state excludes the operation.
    #[error("{0}")]
    InvalidState(&'static str),
    /// A value is out of its range.
    #[error("{field} is out of range")]
    OutOfRange {
        /// The field's name in the HTTP control interface.
        field: &'static str,
    },
    /// The change cannot be recorded, or the simulator was stopped.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An internal error: an id could not be composed, or the crypto processor could not record a change.
    #[error("an end-to-end id could not be composed")]
    Id,
}

/// A handle on a running simulator in the same process. After the simulator has stopped, operations that write fail with
/// [`ControlError::Store`].
#[derive(Clone)]
pub struct Control {
    pub(crate) psp: Arc<Psp>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("host", &self.psp.host).finish_non_exhaustive()
    }
}

impl Control {
    pub(crate) fn new(psp: Arc<Psp>) -> Self {
        Self { psp }
    }

    /// Pays `amount`, by default the charge's amount, for a charge in any state. Each call makes another Pix.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::OutOfRange`] for an amount that is not positive or has more than ten integer digits,
    /// [`ControlError::Store`].
    pub fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<PaidPix, ControlError> {
        self.psp.pay(txid, amount).map_err(|error| match error {
            PayError::CobNotFound => ControlError::NotFound("the charge"),
            PayError::InvalidAmount => ControlError::OutOfRange { field: "valor" },
            PayError::Store(error) => error.into(),
            PayError::Id(_) => ControlError::Id,
        })
    }

    /// Moves a charge's expiry into the past, unless the charge has expired already. `expiracao` becomes one second. For a charge younger
    /// than two seconds, `criacao` moves back too.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::Store`].
    pub fn expire(&self, txid: &Txid) -> Result<(), ControlError> {
        /// The least age of the charge afterwards: one second for the shortest legal `expiracao`, and one more so that the expiry is past.
        const AGE: SignedDuration = SignedDuration::from_secs(2);
        let now = self.psp.clock.now();
        let mut store = self.psp.write();
        let (_, cob) = store.books().find_named_cob(txid.as_str()).ok_or(ControlError::NotFound("the charge"))?;
        if cob.expires_at() < now {
            return Ok(());
        }
        let created_at = cob.created_at.min(now.saturating_sub(AGE).unwrap_or(now));
        let txid = cob.txid.clone();
        store.commit(Change::CobExpired { txid, created_at, expires_in_s: 1 })?;
        self.psp.settlement_wakeup.notify_one();
        Ok(())
    }

    /// Replaces the institution's fault. The new fault ends with the next replacement, or with the process.
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] for a latency above a minute.
    pub fn set_faults(&self, fault: Fault) -> Result<(), ControlError> {
        self.set_faults_of(FaultTarget::Institution, fault, None)
    }

    /// Replaces the fault of one system. With `part`, only requests whose path contains that text have the fault.
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] for a latency above a minute.
    pub fn set_faults_of(&self, target: FaultTarget, fault: Fault, part: Option<&str>) -> Result<(), ControlError> {
        if fault.latency > MAX_LATENCY {
            return Err(ControlError::OutOfRange { field: "latency_ms" });
        }
        self.psp.faults.set(target, fault, part);
        Ok(())
    }

    /// Replaces the dialect of the API Pix.
    pub fn set_dialect(&self, dialect: Dialect) {
        self.psp.dialects.set(dialect);
    }

    /// Sets the simulator's clock `offset_s` seconds ahead of the machine's clock; a negative offset sets it behind. The offset does not
    /// survive a restart.
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] for an offset of more than about ten years in either direction.
    pub fn set_clock_offset(&self, offset_s: i64) -> Result<(), ControlError> {
        if !self.psp.clock.set_offset_s(offset_s) {
            return Err(ControlError::OutOfRange { field: "offset_s" });
        }
        self.psp.settlement_wakeup.notify_one();
        Ok(())
    }

    /// Ends a return that is still `EM_PROCESSAMENTO` as `NAO_REALIZADO`.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::InvalidState`] if the return is final, [`ControlError::Store`].
    pub fn fail_refund(&self, end_to_end_id: &EndToEndId, id: &str) -> Result<(), ControlError> {
        self.psp.fail_refund(end_to_end_id.as_str(), id).map_err(|error| match error {
            RefundError::PaymentNotFound => ControlError::NotFound("the Pix"),
            RefundError::RefundNotFound => ControlError::NotFound("the return"),
            RefundError::AlreadyFinal => ControlError::InvalidState("the return is already final"),
            RefundError::Store(error) => error.into(),
            RefundError::IdTaken | RefundError::ExceedsPayment | RefundError::TooLate | RefundError::Id(_) => {
                ControlError::Id
            }
        })
    }

    /// Returns `amount` of a sent Pix, as if its recipient returned it. Without `amount`, returns the whole part that is not returned yet.
    ///
    /// # Errors
    /// - [`ControlError::NotFound`] for an unknown `idEnvio`.
    /// - [`ControlError::InvalidState`] if the Pix is not `REALIZADO`, or was returned in full.
    /// - [`ControlError::OutOfRange`] if `amount` is not positive, or exceeds the part that is not returned yet.
    /// - [`ControlError::Store`].
    pub fn return_sent(&self, send_id: &str, amount: Option<Money>) -> Result<SentReturn, ControlError> {
        self.psp.return_sent(send_id, amount).map_err(|error| match error {
            ReturnSentError::NotFound => ControlError::NotFound("the sent Pix"),
            ReturnSentError::NotSettled => {
                ControlError::InvalidState("only a Pix with the status REALIZADO can be returned")
            }
            ReturnSentError::NothingLeft => ControlError::InvalidState("the whole Pix was returned already"),
            ReturnSentError::InvalidAmount => ControlError::OutOfRange { field: "valor" },
            ReturnSentError::Store(error) => error.into(),
            ReturnSentError::Id(_) => ControlError::Id,
        })
    }

    /// Sets the account's balance.
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] below zero or beyond ten integer digits, [`ControlError::Store`].
    pub fn set_balance(&self, balance: Money) -> Result<(), ControlError> {
        if balance.is_negative() || balance >= AMOUNT_LIMIT {
            return Err(ControlError::OutOfRange { field: "saldo" });
        }
        Ok(self.psp.write().commit(Change::BalanceSet { balance })?)
    }

    /// Applies the changes that are due by now, and returns the state of all systems: money movements, infractions, and counts of callbacks
    /// and requests.
    ///
    /// # Errors
    /// [`ControlError::Store`].
    pub fn ledger(&self) -> Result<Ledger, ControlError> {
        self.psp.settle_due()?;
        Ok(ledger::of(&self.psp))
    }
}

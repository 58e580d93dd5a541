//! A received Pix and its returns (`devoluções`) in the simulated PSP.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::wire;

/// The time that a return stays `EM_PROCESSAMENTO`, by the simulator's clock.
pub const REFUND_SETTLES_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// The time after settlement in which a Pix may be returned (API Pix 2.9.0, `PixDevolucaoInvalida`): 90 days.
pub const REFUND_WINDOW: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A Pix that arrived for a charge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payment {
    /// The end-to-end id: 32 alphanumerics, unique.
    pub end_to_end_id: Arc<str>,
    /// The charge's txid.
    pub txid: Arc<str>,
    /// The received amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The part handed out as cash.
    #[serde(with = "wire::amount")]
    pub withdrawn: Money,
    /// The instant of settlement.
    #[serde(with = "wire::micros")]
    pub paid_at: Timestamp,
    /// The requested returns, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Refund>,
}

impl Payment {
    /// Returns the return with the client's `id`.
    #[must_use]
    pub fn find_refund(&self, id: &str) -> Option<&Refund> {
        self.refunds.iter().find(|refund| &*refund.id == id)
    }

    /// Returns the amount that can still be returned under `nature`: the cash or the purchase, minus its returns that did not fail. Returns
    /// `None` if a sum is too large for [`Money`].
    #[must_use]
    pub fn refundable(&self, nature: Nature) -> Option<Money> {
        let is_cash = nature.is_of_cash();
        let part = if is_cash { self.withdrawn } else { self.amount.checked_sub(self.withdrawn).ok()? };
        let taken = self
            .refunds
            .iter()
            .filter(|refund| refund.nature.is_of_cash() == is_cash)
            .filter(|refund| !matches!(refund.outcome, RefundOutcome::Failed { .. }))
            .map(|refund| refund.amount);
        part.checked_sub(Money::sum(taken).ok()?).ok()
    }
}

/// The `natureza` of a return. A receiver may request the first two; only the institution makes the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nature {
    /// A return of the purchase (`MD06`).
    #[serde(rename = "ORIGINAL")]
    Original,
    /// A return of the cash of a Pix Saque or Pix Troco (`SL02`).
    #[serde(rename = "RETIRADA")]
    Withdrawal,
    /// A return of a Pix disputed for fraud (`FR01`), made by the institution itself.
    #[serde(rename = "MED_FRAUDE")]
    MedFraud,
    /// A return of a Pix disputed for an operational flaw (`BE08`), made by the institution itself.
    #[serde(rename = "MED_OPERACIONAL")]
    MedOperational,
}

impl Nature {
    /// Returns whether the return is of the cash, not of the purchase.
    #[must_use]
    pub const fn is_of_cash(self) -> bool {
        match self {
            Self::Withdrawal => true,
            Self::Original | Self::MedFraud | Self::MedOperational => false,
        }
    }
}

/// The outcome of a return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundOutcome {
    /// `EM_PROCESSAMENTO`.
    Processing,
    /// `DEVOLVIDO`.
    Returned {
        /// The instant of settlement.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// `NAO_REALIZADO`.
    Failed {
        /// The reason, for the client.
        reason: Box<str>,
    },
}

/// A return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refund {
    /// The client's identifier, unique within the Pix.
    pub id: Box<str>,
    /// `rtrId`, 32 alphanumerics.
    pub return_id: Box<str>,
    /// The returned amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The part of the Pix that is returned, and the reason.
    pub nature: Nature,
    /// `descricao`, text for the payer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// The instant of the request, from which [`REFUND_SETTLES_AFTER`] counts.
    #[serde(with = "wire::micros")]
    pub requested_at: Timestamp,
    /// `true` if the balance covered the return at its request. Otherwise the return fails when it is due.
    #[serde(default = "covered")]
    pub is_covered: bool,
    /// The outcome.
    pub outcome: RefundOutcome,
}

impl Refund {
    /// Returns the instant at which the return becomes final, unless the tester fails it before.
    #[must_use]
    pub fn settles_at(&self) -> Timestamp {
        self.requested_at.saturating_add(REFUND_SETTLES_AFTER).unwrap_or(Timestamp::MAX)
    }
}

/// Returns the default of `is_covered` for old state files: before balances existed, every return was covered.
fn covered() -> bool {
    true
}

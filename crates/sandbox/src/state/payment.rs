//! A received Pix and its returns (`devoluções`) as the simulated PSP keeps them.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::wire;

/// How long a return stays `EM_PROCESSAMENTO`, by the simulator's clock.
pub const REFUND_SETTLES_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// How long after settlement a Pix may be returned (API Pix 2.9.0, `PixDevolucaoInvalida`): 90 days.
pub const REFUND_WINDOW: SignedDuration = SignedDuration::from_hours(90 * 24);

/// One Pix that arrived for a charge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payment {
    /// 32 alphanumerics, unique.
    pub end_to_end_id: Arc<str>,
    /// The charge it names.
    pub txid: Arc<str>,
    /// What arrived.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The part of it that was handed out as cash.
    #[serde(with = "wire::amount")]
    pub withdrawn: Money,
    /// When it was settled.
    #[serde(with = "wire::micros")]
    pub paid_at: Timestamp,
    /// Returns that were asked for, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Refund>,
}

impl Payment {
    /// The return that the client named `id`.
    #[must_use]
    pub fn find_refund(&self, id: &str) -> Option<&Refund> {
        self.refunds.iter().find(|refund| &*refund.id == id)
    }

    /// What may still be returned under `nature`: that part of the Pix less the returns of it that have not failed.
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

/// `natureza` of a return; a receiver may ask for the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nature {
    /// Of the purchase (`MD06`).
    #[serde(rename = "ORIGINAL")]
    Original,
    /// Of the cash of a Pix Saque or Pix Troco (`SL02`).
    #[serde(rename = "RETIRADA")]
    Withdrawal,
    /// Of a Pix that a payer disputed for a fraud (`FR01`), made by the institution itself.
    #[serde(rename = "MED_FRAUDE")]
    MedFraud,
    /// Of a Pix that was disputed for an operational flaw (`BE08`), made by the institution itself.
    #[serde(rename = "MED_OPERACIONAL")]
    MedOperational,
}

impl Nature {
    /// Whether it is of the cash that was handed out, and not of the purchase.
    #[must_use]
    pub const fn is_of_cash(self) -> bool {
        match self {
            Self::Withdrawal => true,
            Self::Original | Self::MedFraud | Self::MedOperational => false,
        }
    }
}

/// What became of a return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundOutcome {
    /// `EM_PROCESSAMENTO`.
    Processing,
    /// `DEVOLVIDO`.
    Returned {
        /// When it was settled.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// `NAO_REALIZADO`.
    Failed {
        /// Why, for the client to read.
        reason: Box<str>,
    },
}

/// One return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refund {
    /// Chosen by the client, unique within the Pix.
    pub id: Box<str>,
    /// `rtrId`, 32 alphanumerics.
    pub return_id: Box<str>,
    /// How much goes back.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// Which part of the Pix.
    pub nature: Nature,
    /// `descricao`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// When it was asked for.
    #[serde(with = "wire::micros")]
    pub requested_at: Timestamp,
    /// Whether the account had the money for it; without it the return fails when it would become final.
    #[serde(default = "covered")]
    pub is_covered: bool,
    /// What became of it.
    pub outcome: RefundOutcome,
}

impl Refund {
    /// When it becomes final unless it is told to fail before.
    #[must_use]
    pub fn settles_at(&self) -> Timestamp {
        self.requested_at.saturating_add(REFUND_SETTLES_AFTER).unwrap_or(Timestamp::MAX)
    }
}

/// Before there was a balance, every return was covered.
fn covered() -> bool {
    true
}

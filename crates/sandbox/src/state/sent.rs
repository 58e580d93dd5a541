//! A sent Pix and its returns in the simulated PSP.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// The owner of the Pix key that a Pix was sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The Pix key in its normal form.
    pub key: Box<str>,
    /// The owner's name.
    pub name: Box<str>,
    /// The owner's CPF or CNPJ, without punctuation.
    pub document: Box<str>,
}

/// The reason why a sent Pix ends as `NAO_REALIZADO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendFailure {
    /// The sender expected another CPF or CNPJ than that of the key's owner.
    OtherOwner,
    /// The account is unknown to the recipient's institution.
    NoSuchAccount,
}

impl SendFailure {
    /// Returns the reason's code in the instant payment system (ISO 20022, message pacs.002).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OtherOwner => "BE01",
            Self::NoSuchAccount => "AC03",
        }
    }

    /// Returns the reason as text for people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OtherOwner => "the CPF or CNPJ given is not that of the owner of the Pix key",
            Self::NoSuchAccount => "the recipient's account does not exist or is not valid",
        }
    }
}

/// The outcome of a sent Pix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOutcome {
    /// `EM_PROCESSAMENTO`.
    Processing,
    /// `REALIZADO`.
    Settled {
        /// The instant of the settlement.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// `NAO_REALIZADO`.
    Failed(SendFailure),
}

impl SendOutcome {
    /// Returns the `status` for responses.
    #[must_use]
    pub const fn status(self) -> SendStatus {
        match self {
            Self::Processing => SendStatus::Processing,
            Self::Settled { .. } => SendStatus::Settled,
            Self::Failed(_) => SendStatus::Failed,
        }
    }
}

/// The `status` of a sent Pix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SendStatus {
    /// Accepted, not final.
    #[serde(rename = "EM_PROCESSAMENTO")]
    Processing,
    /// The recipient has the money.
    #[serde(rename = "REALIZADO")]
    Settled,
    /// The money is back with the sender.
    #[serde(rename = "NAO_REALIZADO")]
    Failed,
}

impl SendStatus {
    /// Parses the name on the wire.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "EM_PROCESSAMENTO" => Some(Self::Processing),
            "REALIZADO" => Some(Self::Settled),
            "NAO_REALIZADO" => Some(Self::Failed),
            _ => None,
        }
    }
}

/// A return of a sent Pix, or of a part of it, by the recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentReturn {
    /// `rtrId`, 32 alphanumerics.
    pub return_id: Arc<str>,
    /// The amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The instant at which the money arrived.
    #[serde(with = "wire::micros")]
    pub at: Timestamp,
}

/// A sent Pix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    /// `idEnvio`, 1 to 35 alphanumerics, unique, chosen by the client.
    pub send_id: Arc<str>,
    /// 32 alphanumerics, unique.
    pub end_to_end_id: Arc<str>,
    /// The amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// `infoPagador`, text for the recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer_info: Option<Box<str>>,
    /// The recipient.
    pub recipient: Recipient,
    /// The instant of acceptance.
    #[serde(with = "wire::micros")]
    pub requested_at: Timestamp,
    /// The instant at which the Pix becomes final.
    #[serde(with = "wire::micros")]
    pub settles_at: Timestamp,
    /// The failure that occurs at `settles_at`, if any; in the journal `doom`. It is chosen at the acceptance and stored, so a restart does
    /// not change it.
    #[serde(rename = "doom", default, skip_serializing_if = "Option::is_none")]
    pub planned_failure: Option<SendFailure>,
    /// The outcome so far.
    pub outcome: SendOutcome,
    /// The returned parts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<SentReturn>,
    /// The number of requests with this `idEnvio`, refused repeats included.
    pub requests: u64,
}

impl Sent {
    /// Returns the outcome that the Pix has from `settles_at` on.
    #[must_use]
    pub fn final_outcome(&self) -> SendOutcome {
        self.planned_failure.map_or(SendOutcome::Settled { at: self.settles_at }, SendOutcome::Failed)
    }

    /// Returns the part of the amount that was not returned yet; `None` only if the amounts overflow.
    #[must_use]
    pub fn returnable(&self) -> Option<Money> {
        let back = Money::sum(self.returns.iter().map(|back| back.amount)).ok()?;
        self.amount.checked_sub(back).ok()
    }
}

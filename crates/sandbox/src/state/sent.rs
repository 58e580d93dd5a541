//! A sent Pix and its returns in the simulated PSP.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// The owner of the paid key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The Pix key in its normal form.
    pub key: Box<str>,
    /// The owner's name.
    pub name: Box<str>,
    /// The owner's CPF or CNPJ, without punctuation.
    pub document: Box<str>,
}

/// The reason a send ends as `NAO_REALIZADO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendFailure {
    /// The key belongs to another CPF or CNPJ than expected by the sender.
    OtherOwner,
    /// The account is unknown to the recipient's institution.
    NoSuchAccount,
}

impl SendFailure {
    /// Returns the code of the instant payment system (pacs.002, external status reason).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OtherOwner => "BE01",
            Self::NoSuchAccount => "AC03",
        }
    }

    /// Returns the reason, for people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OtherOwner => "the CPF or CNPJ given is not that of the owner of the Pix key",
            Self::NoSuchAccount => "the recipient's account does not exist or is not valid",
        }
    }
}

/// The outcome of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOutcome {
    /// `EM_PROCESSAMENTO`.
    Processing,
    /// `REALIZADO`.
    Settled {
        /// The instant.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// `NAO_REALIZADO`.
    Failed(SendFailure),
}

impl SendOutcome {
    /// Returns the status on the wire.
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

/// A part of a sent Pix returned by its recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentReturn {
    /// `rtrId`, 32 alphanumerics.
    pub return_id: Arc<str>,
    /// The amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The instant of arrival.
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
    /// The instant at which the send becomes final.
    #[serde(with = "wire::micros")]
    pub settles_at: Timestamp,
    /// The failure at `settles_at`, if any. The failure is decided at the acceptance, so that a restart does not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doom: Option<SendFailure>,
    /// The outcome.
    pub outcome: SendOutcome,
    /// The returned parts, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<SentReturn>,
    /// The number of requests with this `idEnvio`, refused repeats included.
    pub requests: u64,
}

impl Sent {
    /// Returns the outcome of the send at `settles_at`.
    #[must_use]
    pub fn destiny(&self) -> SendOutcome {
        self.doom.map_or(SendOutcome::Settled { at: self.settles_at }, SendOutcome::Failed)
    }

    /// Returns the part of the amount that was not returned yet.
    #[must_use]
    pub fn returnable(&self) -> Option<Money> {
        let back = Money::sum(self.returns.iter().map(|back| back.amount)).ok()?;
        self.amount.checked_sub(back).ok()
    }
}

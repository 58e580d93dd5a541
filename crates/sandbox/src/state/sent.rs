//! A Pix that the account sent, and what came back of it, as the simulated PSP keeps them.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire;

/// Who is behind the key that was paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The Pix key in its normal form.
    pub key: Box<str>,
    /// The owner's name.
    pub name: Box<str>,
    /// The owner's CPF or CNPJ, bare.
    pub document: Box<str>,
}

/// Why a send ends `NAO_REALIZADO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendFailure {
    /// The key belongs to another CPF or CNPJ than the sender expected.
    OtherOwner,
    /// The recipient's institution does not know the account.
    NoSuchAccount,
}

impl SendFailure {
    /// The code of the instant payment system (pacs.002, external status reason).
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OtherOwner => "BE01",
            Self::NoSuchAccount => "AC03",
        }
    }

    /// The reason, for people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OtherOwner => "the CPF or CNPJ given is not that of the owner of the Pix key",
            Self::NoSuchAccount => "the recipient's account does not exist or is not valid",
        }
    }
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOutcome {
    /// `EM_PROCESSAMENTO`.
    Processing,
    /// `REALIZADO`.
    Settled {
        /// When.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// `NAO_REALIZADO`.
    Failed(SendFailure),
}

impl SendOutcome {
    /// The wire's word.
    #[must_use]
    pub const fn status(self) -> SendStatus {
        match self {
            Self::Processing => SendStatus::Processing,
            Self::Settled { .. } => SendStatus::Settled,
            Self::Failed(_) => SendStatus::Failed,
        }
    }
}

/// `status` of a sent Pix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SendStatus {
    /// Accepted, and not final.
    #[serde(rename = "EM_PROCESSAMENTO")]
    Processing,
    /// The recipient has it.
    #[serde(rename = "REALIZADO")]
    Settled,
    /// The money is back with the sender.
    #[serde(rename = "NAO_REALIZADO")]
    Failed,
}

impl SendStatus {
    /// Reads the wire's word.
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

/// A part of a sent Pix that its recipient gave back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    /// `rtrId`, 32 alphanumerics.
    pub return_id: Arc<str>,
    /// How much.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// When it arrived.
    #[serde(with = "wire::micros")]
    pub at: Timestamp,
}

/// One Pix that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    /// `idEnvio`, 1 to 35 alphanumerics, unique: chosen by the client.
    pub send_id: Arc<str>,
    /// 32 alphanumerics, unique.
    pub end_to_end_id: Arc<str>,
    /// What was sent.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// `infoPagador`, text for the recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer_info: Option<Box<str>>,
    /// Who gets it.
    pub recipient: Recipient,
    /// When it was accepted.
    #[serde(with = "wire::micros")]
    pub requested_at: Timestamp,
    /// When it becomes final.
    #[serde(with = "wire::micros")]
    pub settles_at: Timestamp,
    /// How it will fail then; without one it succeeds. Decided at once, so that a restart changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doom: Option<SendFailure>,
    /// What became of it.
    pub outcome: SendOutcome,
    /// What came back, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<GivenBack>,
    /// Requests that named its `idEnvio`, the refused repeats among them.
    pub requests: u64,
}

impl Sent {
    /// What it becomes when it becomes final.
    #[must_use]
    pub fn destiny(&self) -> SendOutcome {
        self.doom.map_or(SendOutcome::Settled { at: self.settles_at }, SendOutcome::Failed)
    }

    /// What the recipient still has of it, once it is settled.
    #[must_use]
    pub fn returnable(&self) -> Option<Money> {
        let back = Money::sum(self.returns.iter().map(|back| back.amount)).ok()?;
        self.amount.checked_sub(back).ok()
    }
}

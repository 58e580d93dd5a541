//! An immediate charge (`cob`) of the simulated institution. Types that the API Pix shows unchanged are serialized with its field names.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::wire;

/// The `status` of a charge (API Pix 2.9.0, `CobrancaStatus`). An expired charge stays `ATIVA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CobStatus {
    /// The charge waits for its payment, or has expired.
    #[serde(rename = "ATIVA")]
    Active,
    /// Paid.
    #[serde(rename = "CONCLUIDA")]
    Concluded,
    /// Removed by the receiver.
    #[serde(rename = "REMOVIDA_PELO_USUARIO_RECEBEDOR")]
    RemovedByReceiver,
    /// Removed by the institution. The simulator never removes a charge, but lists accept this status as a filter.
    #[serde(rename = "REMOVIDA_PELO_PSP")]
    RemovedByPsp,
}

impl CobStatus {
    /// Parses the name on the wire.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ATIVA" => Some(Self::Active),
            "CONCLUIDA" => Some(Self::Concluded),
            "REMOVIDA_PELO_USUARIO_RECEBEDOR" => Some(Self::RemovedByReceiver),
            "REMOVIDA_PELO_PSP" => Some(Self::RemovedByPsp),
            _ => None,
        }
    }
}

/// `devedor`: a name with a CPF or a CNPJ, never both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debtor {
    /// Eleven digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpf: Option<Box<str>>,
    /// Fourteen characters, digits or capital letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnpj: Option<Box<str>>,
    /// At most 200 characters.
    pub nome: Box<str>,
}

/// An item of `infoAdicionais`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdditionalInfo {
    /// At most 50 characters.
    pub nome: Box<str>,
    /// At most 200 characters.
    pub valor: Box<str>,
}

/// `valor` of a charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// The amount.
    #[serde(with = "wire::amount")]
    pub original: Money,
    /// 1 if the payer may change the amount; otherwise 0 or absent.
    #[serde(rename = "modalidadeAlteracao", default, skip_serializing_if = "Option::is_none")]
    pub alterable: Option<u8>,
    /// Cash handed out with the payment (Pix Saque, Pix Troco).
    #[serde(rename = "retirada", default, skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<Box<Withdrawal>>,
}

/// `retirada`: cash instead of a purchase, or on top of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Withdrawal {
    /// Pix Saque.
    #[serde(rename = "saque")]
    Cash(WithdrawalTerms),
    /// Pix Troco.
    #[serde(rename = "troco")]
    Change(WithdrawalTerms),
}

impl Withdrawal {
    /// Returns the terms of either kind.
    #[must_use]
    pub fn terms(&self) -> &WithdrawalTerms {
        match self {
            Self::Cash(terms) | Self::Change(terms) => terms,
        }
    }
}

/// The common fields of both kinds of `retirada`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawalTerms {
    /// The amount of cash.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// 1 if the payer may change the amount of cash; otherwise 0 or absent.
    #[serde(rename = "modalidadeAlteracao", default, skip_serializing_if = "Option::is_none")]
    pub alterable: Option<u8>,
    /// The kind of agent that hands out the cash: `AGTEC`, `AGTOT`, or (only for Pix Saque) `AGPSS`.
    #[serde(rename = "modalidadeAgente")]
    pub agent: Box<str>,
    /// The ISPB (institution code) of the facilitator of the cash service.
    #[serde(rename = "prestadorDoServicoDeSaque")]
    pub provider: Box<str>,
}

/// The part of a charge that a revision may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// `expiracao`: the seconds from creation to expiry.
    pub expires_in_s: i32,
    /// The debtor, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debtor: Option<Box<Debtor>>,
    /// The amounts.
    pub value: Value,
    /// `solicitacaoPagador`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer_request: Option<Box<str>>,
    /// `infoAdicionais`.
    #[serde(default, skip_serializing_if = "<[AdditionalInfo]>::is_empty")]
    pub info: Box<[AdditionalInfo]>,
    /// The status.
    pub status: CobStatus,
}

/// The random part of a charge's location, 32 hexadecimal characters on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocationToken(pub u128);

impl Serialize for LocationToken {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for LocationToken {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a location token"))
    }
}

impl LocationToken {
    /// Parses the 32 hexadecimal characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

/// A charge with its present and past terms and its payments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cob {
    /// 26 to 35 alphanumerics, unique.
    pub txid: Arc<str>,
    /// The instant of creation, by the simulator's clock.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// The location of the payload.
    pub location: LocationToken,
    /// The present terms. Their revision number (`revisao`) is the number of past terms.
    pub terms: Terms,
    /// The past terms, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Terms>,
    /// The positions of the charge's payments among all payments. Not stored, but computed when the state is loaded.
    #[serde(skip)]
    pub payments: Vec<usize>,
}

impl Cob {
    /// Returns the instant of expiry (`criacao` + `expiracao`).
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.created_at
            .saturating_add(SignedDuration::from_secs(i64::from(self.terms.expires_in_s)))
            .unwrap_or(Timestamp::MAX)
    }

    /// Returns the amount that a payer pays: the charge's amount plus the cash. Returns `None` if the sum is too large for [`Money`].
    #[must_use]
    pub fn amount_due(&self) -> Option<Money> {
        let cash = self.terms.value.withdrawal.as_ref().map_or(Money::ZERO, |w| w.terms().amount);
        self.terms.value.original.checked_add(cash).ok()
    }

    /// Returns whether a payment of `amount` settles the charge: any amount if the payer may change it, otherwise at least the amount due.
    #[must_use]
    pub fn is_settled_by(&self, amount: Money) -> bool {
        self.terms.value.alterable == Some(1) || self.amount_due().is_some_and(|due| amount >= due)
    }
}

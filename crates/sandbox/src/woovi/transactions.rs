//! The transactions of Woovi's API: received Pix, sent Pix, and the returns of both.

use jiff::Timestamp;
use serde_json::Value;

use super::{error::WooviError, views::pix};
use crate::{
    psp::Psp,
    state::{
        Books,
        cob::Cob,
        payment::{Payment, Refund},
        sent::{Sent, SentReturn},
    },
};

/// The types of transactions that Woovi documents. The sandbox has transactions of the first three types only.
const KINDS: [&str; 8] =
    ["PAYMENT", "WITHDRAW", "REFUND", "FEE", "INTERNAL_TRANSFER", "BALANCE_BLOCK", "BALANCE_UNBLOCK", "REVERSAL"];

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub enum Transaction<'a> {
    /// A received Pix.
    Received(&'a Payment),
    /// The return of a received Pix.
    Refunded(&'a Payment, &'a Refund),
    /// A sent Pix.
    Sent(&'a Sent),
    /// The return of a sent Pix.
    Returned(&'a Sent, &'a SentReturn),
}

impl<'a> Transaction<'a> {
    /// Returns the instant by which lists are sorted and filtered.
    #[must_use]
    pub fn at(self) -> Timestamp {
        match self {
            Self::Received(payment) => payment.paid_at,
            Self::Refunded(_, refund) => refund.requested_at,
            Self::Sent(sent) => sent.requested_at,
            Self::Returned(_, back) => back.at,
        }
    }

    /// Returns the type, one of `KINDS`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Received(_) => "PAYMENT",
            Self::Refunded(..) | Self::Returned(..) => "REFUND",
            Self::Sent(_) => "WITHDRAW",
        }
    }

    /// Returns the transaction as a JSON object.
    #[must_use]
    pub fn view(self, psp: &Psp, books: &Books) -> Value {
        match self {
            Self::Received(payment) => pix::pix(psp, books, payment),
            Self::Refunded(payment, refund) => pix::listed_refund(psp, books, (payment, refund)),
            Self::Sent(sent) => pix::sent_pix(sent),
            Self::Returned(sent, back) => pix::sent_return(sent, back),
        }
    }

    fn of_payment(payment: &'a Payment) -> impl Iterator<Item = Self> {
        let refunds = payment.refunds.iter().map(|refund| Self::Refunded(payment, refund));
        std::iter::once(Self::Received(payment)).chain(refunds)
    }

    fn of_sent(sent: &'a Sent) -> impl Iterator<Item = Self> {
        std::iter::once(Self::Sent(sent)).chain(sent.returns.iter().map(|back| Self::Returned(sent, back)))
    }
}

/// Returns the transactions of a charge, or all transactions if `cob` is `None`, the newest first.
#[must_use]
pub fn newest<'a>(books: &'a Books, cob: Option<&'a Cob>) -> Vec<Transaction<'a>> {
    let mut found: Vec<_> = if let Some(cob) = cob {
        books.payments_of(cob).flat_map(Transaction::of_payment).collect()
    } else {
        let received = books.payments().iter().flat_map(Transaction::of_payment);
        received.chain(books.sends().all().iter().flat_map(Transaction::of_sent)).collect()
    };
    found.sort_by_key(|transaction| transaction.at());
    found.reverse();
    found
}

/// Returns `kind` unchanged if Woovi documents this type of transaction.
///
/// # Errors
/// 400 for any other type.
pub fn checked_kind(kind: String) -> Result<String, WooviError> {
    if KINDS.contains(&kind.as_str()) { Ok(kind) } else { Err(WooviError::refused("type must be a documented type")) }
}

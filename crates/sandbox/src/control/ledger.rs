//! What the institution has received and returned, with counts, so that a test can prove that nothing went twice.

use std::collections::BTreeMap;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    psp::Psp,
    requests::Operation,
    state::{change::NotificationTotals, payment::RefundOutcome},
    wire,
};

/// Movements of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Movements<T> {
    /// How many.
    pub count: usize,
    /// Their sum, `"123.45"` on the wire.
    #[serde(with = "wire::amount")]
    pub total: Money,
    /// Each of them, in order of arrival of the Pix.
    pub items: Vec<T>,
}

/// A Pix that was received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedItem {
    /// Its end-to-end id.
    pub end_to_end_id: String,
    /// The charge it named.
    pub txid: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `horario`.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub paid_at: Timestamp,
}

/// A Pix that was sent. There can be none: the API Pix has no way to send one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SentItem {}

/// A return that is `DEVOLVIDO`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedItem {
    /// Of which Pix.
    pub end_to_end_id: String,
    /// Chosen by the client.
    pub id: String,
    /// `rtrId`.
    pub rtr_id: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `horario`, of its settlement.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub settled_at: Timestamp,
}

/// Callbacks by what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CallbackCounts {
    /// Not answered 2xx yet.
    pub owed: usize,
    /// Answered 2xx.
    pub delivered: u64,
    /// Given up.
    pub abandoned: u64,
}

/// The answer of `GET /sandbox/ledger`.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// The simulated instant.
    #[serde(serialize_with = "wire::serialize_instant")]
    pub now: Timestamp,
    /// Charges that exist.
    pub cobs: usize,
    /// What came in.
    pub received: Movements<ReceivedItem>,
    /// What went out.
    pub sent: Movements<SentItem>,
    /// What went back and is settled.
    pub returned: Movements<ReturnedItem>,
    /// Callbacks.
    pub callbacks: CallbackCounts,
    /// Requests that reached each operation since the process started; those that a fault cut off before are not counted.
    pub requests: BTreeMap<Operation, u64>,
}

/// Draws up the ledger.
#[must_use]
pub fn of(psp: &Psp) -> Ledger {
    let store = psp.read();
    let books = store.books();
    let received = books.payments().iter().map(|payment| ReceivedItem {
        end_to_end_id: payment.end_to_end_id.to_string(),
        txid: payment.txid.to_string(),
        amount: payment.amount,
        paid_at: payment.paid_at,
    });
    let returned = books.payments().iter().flat_map(|payment| {
        payment.refunds.iter().filter_map(|refund| match refund.outcome {
            RefundOutcome::Returned { at } => Some(ReturnedItem {
                end_to_end_id: payment.end_to_end_id.to_string(),
                id: refund.id.to_string(),
                rtr_id: refund.return_id.to_string(),
                amount: refund.amount,
                settled_at: at,
            }),
            RefundOutcome::Processing | RefundOutcome::Failed { .. } => None,
        })
    });
    let NotificationTotals { delivered, abandoned, due: _ } = books.notification_totals();
    Ledger {
        now: psp.clock.now(),
        cobs: books.cob_count(),
        received: movements(received.collect(), |item| item.amount),
        sent: movements(Vec::new(), |item: &SentItem| match *item {}),
        returned: movements(returned.collect(), |item| item.amount),
        callbacks: CallbackCounts { owed: books.owed_notifications().len(), delivered, abandoned },
        requests: psp.requests.counts(),
    }
}

fn movements<T>(items: Vec<T>, amount: impl Fn(&T) -> Money) -> Movements<T> {
    // Beyond 64 bits of centavos no total could be right; the largest amount at least looks wrong.
    let total = Money::sum(items.iter().map(amount)).unwrap_or(Money::from_centavos(i64::MAX));
    Movements { count: items.len(), total, items }
}

//! The institution's received, sent and returned Pix, with counts, so that a test can prove that no movement happened
//! twice.

use std::collections::BTreeMap;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::Serialize;

use super::infractions::{self, InfractionItem};
use crate::{
    crypto::{self, ledger::CryptoLedger},
    psp::Psp,
    requests::Operation,
    state::{
        Books,
        change::NotificationTotals,
        payment::RefundOutcome,
        sent::{SendStatus, Sent},
    },
    wire,
    woovi::{self, ledger::WooviLedger},
};

/// Movements of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Movements<T> {
    /// The number of movements.
    pub count: usize,
    /// The sum, `"123.45"` on the wire.
    #[serde(with = "wire::amount")]
    pub total: Money,
    /// The movements, in the order in which their Pix were received or sent.
    pub items: Vec<T>,
}

/// A received Pix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedItem {
    /// The end-to-end id.
    pub end_to_end_id: String,
    /// The charge's txid.
    pub txid: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `horario`.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub paid_at: Timestamp,
}

/// A Pix accepted for sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentItem {
    /// `idEnvio`: the client's identifier of the sent Pix.
    pub id_envio: String,
    /// The end-to-end id.
    pub end_to_end_id: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// The recipient's key.
    #[serde(rename = "favorecido")]
    pub recipient_key: String,
    /// The status.
    pub status: SendStatus,
    /// `horario`: the instant when the institution accepted the request.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub requested_at: Timestamp,
    /// The number of Pix that were sent for this `idEnvio`. Tests check that the number is one.
    #[serde(rename = "count")]
    pub effects: usize,
    /// The number of valid requests with this `idEnvio`: the accepted one, and the repeats, which were refused. The number survives
    /// restarts. A request that a fault stopped before it was processed is not counted.
    pub requests: u64,
}

/// A return of a sent Pix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentReturnItem {
    /// The `idEnvio` of the sent Pix.
    pub id_envio: String,
    /// The end-to-end id of the sent Pix.
    pub end_to_end_id: String,
    /// `rtrId`.
    pub rtr_id: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `horario`.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub at: Timestamp,
}

/// A return of a received Pix, with the status `DEVOLVIDO`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedItem {
    /// The end-to-end id of the Pix.
    pub end_to_end_id: String,
    /// `id`: the client's identifier of the return. A MED return has an identifier of the institution, which begins with `med`.
    pub id: String,
    /// `rtrId`.
    pub rtr_id: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `horario`: the instant when the return became `DEVOLVIDO`.
    #[serde(rename = "horario", serialize_with = "wire::serialize_instant")]
    pub settled_at: Timestamp,
}

/// Numbers of callbacks by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CallbackCounts {
    /// Callbacks that are still to be delivered.
    pub owed: usize,
    /// Callbacks that were answered 2xx.
    pub delivered: u64,
    /// Callbacks that were abandoned after the last attempt, or dropped because too many waited.
    pub abandoned: u64,
}

/// The answer of `GET /sandbox/ledger`.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// The simulated instant.
    #[serde(serialize_with = "wire::serialize_instant")]
    pub now: Timestamp,
    /// The account's balance.
    #[serde(rename = "saldo", with = "wire::amount")]
    pub balance: Money,
    /// The number of charges.
    pub cobs: usize,
    /// Received Pix.
    pub received: Movements<ReceivedItem>,
    /// Sent Pix with the status `EM_PROCESSAMENTO` or `REALIZADO`.
    pub sent: Movements<SentItem>,
    /// Sent Pix that were accepted and later became `NAO_REALIZADO`.
    pub rejected: Movements<SentItem>,
    /// Returns of sent Pix.
    pub sent_returned: Movements<SentReturnItem>,
    /// Returns of received Pix with the status `DEVOLVIDO`.
    pub returned: Movements<ReturnedItem>,
    /// Infractions in the order of their first opening.
    pub infractions: Vec<InfractionItem>,
    /// The numbers of callbacks of the API Pix.
    pub callbacks: CallbackCounts,
    /// The crypto processor's payments, withdrawals, balances and notifications.
    pub crypto: CryptoLedger,
    /// The payments and webhook deliveries of Woovi's API.
    pub woovi: WooviLedger,
    /// Requests per operation since the start of the process. A request that a fault stopped before it was processed is not counted.
    pub requests: BTreeMap<Operation, u64>,
}

/// Builds the ledger.
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
    let sent_returns = books.sends().all().iter().flat_map(|sent| {
        sent.returns.iter().map(|back| SentReturnItem {
            id_envio: sent.send_id.to_string(),
            end_to_end_id: sent.end_to_end_id.to_string(),
            rtr_id: back.return_id.to_string(),
            amount: back.amount,
            at: back.at,
        })
    });
    let (rejected, sent) = sends(books).into_iter().partition(|item| item.status == SendStatus::Failed);
    let NotificationTotals { delivered, abandoned, created: _ } = books.notification_totals();
    Ledger {
        now: psp.clock.now(),
        balance: books.funds().balance(),
        cobs: books.cob_count(),
        received: movements(received.collect(), |item| item.amount),
        sent: movements(sent, |item| item.amount),
        rejected: movements(rejected, |item| item.amount),
        sent_returned: movements(sent_returns.collect(), |item| item.amount),
        returned: movements(returned.collect(), |item| item.amount),
        infractions: infractions::items(books),
        callbacks: CallbackCounts { owed: books.owed_notifications().len(), delivered, abandoned },
        crypto: crypto::ledger::of(books.crypto()),
        woovi: woovi::ledger::of(books),
        requests: psp.requests.counts(),
    }
}

/// Returns all sent Pix, each with the number of sent Pix that have the same `idEnvio`.
fn sends(books: &Books) -> Vec<SentItem> {
    let all = books.sends().all();
    let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
    for sent in all {
        *effects.entry(&sent.send_id).or_default() += 1;
    }
    let item = |sent: &Sent| SentItem {
        id_envio: sent.send_id.to_string(),
        end_to_end_id: sent.end_to_end_id.to_string(),
        amount: sent.amount,
        recipient_key: sent.recipient.key.to_string(),
        status: sent.outcome.status(),
        requested_at: sent.requested_at,
        effects: effects.get(&*sent.send_id).copied().unwrap_or_default(),
        requests: sent.requests,
    };
    all.iter().map(item).collect()
}

fn movements<T>(items: Vec<T>, amount: impl Fn(&T) -> Money) -> Movements<T> {
    // A total beyond 64 bits of centavos cannot be represented. In that case the largest amount is returned, which is visibly wrong.
    let total = Money::sum(items.iter().map(amount)).unwrap_or(Money::from_centavos(i64::MAX));
    Movements { count: items.len(), total, items }
}

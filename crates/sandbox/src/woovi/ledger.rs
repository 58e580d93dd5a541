//! The API's part of `GET /sandbox/ledger`. The amounts that moved are in the institution's parts of the ledger.

use cais_domain::money::Money;
use serde::Serialize;

use super::state::{WooviBooks, delivery::DeliveryTotals};
use crate::{state::Books, wire};

/// A requested payment, approved or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WooviPaymentItem {
    /// `correlationID`.
    #[serde(rename = "correlationID")]
    pub correlation_id: String,
    /// `valor`.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `true` after the approval. The ledger's `sent` or `rejected` then contains the send with this `idEnvio`.
    pub approved: bool,
    /// `true` if a person removed the payment.
    pub removed: bool,
    /// The number of creations with this `correlationID`, refused repeats included.
    pub requests: u64,
}

/// Numbers of webhook deliveries by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryCounts {
    /// Deliveries that are still to be delivered.
    pub owed: usize,
    /// Deliveries that were answered 2xx.
    pub delivered: u64,
    /// Deliveries that were abandoned after the last attempt, or dropped because too many waited.
    pub abandoned: u64,
}

/// The API's part of the ledger.
#[derive(Clone, Debug, Serialize)]
pub struct WooviLedger {
    /// Payments in the order of their requests.
    pub payments: Vec<WooviPaymentItem>,
    /// Webhook deliveries, tests at registrations included.
    pub webhooks: DeliveryCounts,
}

/// Builds this part of the ledger.
#[must_use]
pub fn of(books: &Books) -> WooviLedger {
    let woovi: &WooviBooks = books.woovi();
    let payments = woovi.payments().iter().map(|payment| WooviPaymentItem {
        correlation_id: payment.correlation_id.to_string(),
        amount: payment.amount,
        approved: books.sends().find(&payment.correlation_id).is_some(),
        removed: payment.is_removed,
        requests: payment.requests,
    });
    let DeliveryTotals { delivered, abandoned, due: _ } = woovi.totals();
    WooviLedger {
        payments: payments.collect(),
        webhooks: DeliveryCounts { owed: woovi.owed().len(), delivered, abandoned },
    }
}

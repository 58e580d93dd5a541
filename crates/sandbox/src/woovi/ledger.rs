//! The field `woovi` in the answer of `GET /sandbox/ledger`. Money that moved is in the answer's other fields, because both APIs share the
//! account.

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
    /// The requested amount.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// `true` after the approval. The field `sent` or `rejected` of the answer then contains the Pix, with this id as `idEnvio`.
    pub approved: bool,
    /// `true` if the payment was removed before its approval.
    pub removed: bool,
    /// The number of requests to create a payment with this `correlationID`, refused repeats included.
    pub requests: u64,
}

/// The numbers of webhook deliveries by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryCounts {
    /// Deliveries that wait for their first or next attempt, or are being attempted.
    pub owed: usize,
    /// Deliveries that were answered 2xx.
    pub delivered: u64,
    /// Deliveries that failed at the last attempt, or were dropped because too many waited.
    pub abandoned: u64,
}

/// The payments and webhook deliveries of Woovi's API, for the answer of `GET /sandbox/ledger`.
#[derive(Clone, Debug, Serialize)]
pub struct WooviLedger {
    /// Payments in the order of their requests.
    pub payments: Vec<WooviPaymentItem>,
    /// Webhook deliveries, including the test deliveries after registrations.
    pub webhooks: DeliveryCounts,
}

/// Builds the field `woovi`.
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
    let DeliveryTotals { delivered, abandoned, created: _ } = woovi.totals();
    WooviLedger {
        payments: payments.collect(),
        webhooks: DeliveryCounts { owed: woovi.owed().len(), delivered, abandoned },
    }
}

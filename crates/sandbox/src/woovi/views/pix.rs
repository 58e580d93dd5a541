//! The JSON forms of received Pix, sent Pix and the returns of both, in Woovi's answers and webhooks.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{charge, payer, transaction_id};
use crate::{
    psp::Psp,
    state::{
        Books,
        payment::{Payment, Refund, RefundOutcome},
        sent::{SendOutcome, Sent, SentReturn},
    },
    wire::instant,
};

/// Returns a received Pix with its charge.
#[must_use]
pub fn pix(psp: &Psp, books: &Books, payment: &Payment) -> Value {
    let cob = books.find_cob(&payment.txid).map(|(_, cob)| cob);
    json!({
        "customer": cob.and_then(|cob| charge::customer(books, cob)),
        "payer": payer(cob.and_then(|cob| cob.terms.debtor.as_deref())),
        "charge": cob.map(|cob| charge::charge(psp, books, cob)),
        "value": payment.amount.centavos(),
        "time": instant(payment.paid_at),
        "endToEndId": payment.end_to_end_id,
        "transactionID": payment.txid,
        "infoPagador": "",
        "fee": 0,
        "status": "CONFIRMED",
        "type": "PAYMENT",
        "createdAt": instant(payment.paid_at),
        "pixKey": psp.identity.pix_key,
        "globalID": transaction_id(&payment.end_to_end_id),
    })
}

/// Returns the status of a return of a received Pix, by its name in transactions and in `/charge/{id}/refund`.
const fn status(refund: &Refund) -> &'static str {
    match refund.outcome {
        RefundOutcome::Processing => "IN_PROCESSING",
        RefundOutcome::Returned { .. } => "CONFIRMED",
        RefundOutcome::Failed { .. } => "REJECTED",
    }
}

/// Returns a return of a received Pix in the form of `/charge/{id}/refund`.
#[must_use]
pub fn charge_refund(refund: &Refund) -> Value {
    json!({
        "status": status(refund),
        "value": refund.amount.centavos(),
        "correlationID": refund.id,
        "endToEndId": refund.return_id,
        "time": instant(refund_time(refund)),
        "comment": refund.description.as_deref().unwrap_or_default(),
    })
}

/// Returns a return of a received Pix in the form of `/refund`. This form has other names for the statuses.
#[must_use]
pub fn refund(refund: &Refund) -> Value {
    let status = match refund.outcome {
        RefundOutcome::Processing => "IN_PROCESSING",
        RefundOutcome::Returned { .. } => "REFUNDED",
        RefundOutcome::Failed { .. } => "NOT_ACCOMPLISHED",
    };
    json!({
        "status": status,
        "value": refund.amount.centavos(),
        "correlationID": refund.id,
        "refundId": refund_id(refund),
        "returnIdentification": refund.return_id,
        "time": instant(refund_time(refund)),
        "comment": refund.description.as_deref().unwrap_or_default(),
    })
}

/// Returns the `refundId` of a return: its `rtrId` in lower case.
#[must_use]
pub fn refund_id(refund: &Refund) -> String {
    refund.return_id.to_lowercase()
}

/// Returns a return of a received Pix as a transaction, in the form of webhooks.
#[must_use]
pub fn refund_transaction(payment: &Payment, refund: &Refund) -> Value {
    returned(
        status(refund),
        (refund.amount.centavos(), refund.amount < payment.amount),
        &refund.return_id,
        (refund.requested_at, refund_time(refund)),
    )
}

/// Returns a return of a received Pix as a transaction, in the form of `/transaction`: with its charge.
#[must_use]
pub fn listed_refund(psp: &Psp, books: &Books, (payment, refund): (&Payment, &Refund)) -> Value {
    let mut shown = refund_transaction(payment, refund);
    let cob = books.find_cob(&payment.txid).map(|(_, cob)| charge::charge(psp, books, cob));
    if let (Some(fields), Some(charge)) = (shown.as_object_mut(), cob) {
        fields.insert("charge".to_owned(), charge);
    }
    shown
}

/// Returns a sent Pix as a transaction.
#[must_use]
pub fn sent_pix(sent: &Sent) -> Value {
    let status = match sent.outcome {
        SendOutcome::Processing => "IN_PROCESSING",
        SendOutcome::Settled { .. } => "CONFIRMED",
        SendOutcome::Failed(_) => "REJECTED",
    };
    json!({
        "value": sent.amount.centavos(),
        "time": instant(sent.requested_at),
        "endToEndId": sent.end_to_end_id,
        "status": status,
        "type": "WITHDRAW",
        "createdAt": instant(sent.requested_at),
        "globalID": transaction_id(&sent.end_to_end_id),
    })
}

/// Returns a return of a sent Pix as a transaction.
#[must_use]
pub fn sent_return(sent: &Sent, back: &SentReturn) -> Value {
    let is_partial = back.amount < sent.amount;
    returned("CONFIRMED", (back.amount.centavos(), is_partial), &back.return_id, (back.at, back.at))
}

/// Returns any return as a transaction. `partial` is `true` if only a part of the Pix was returned.
fn returned(
    status: &str,
    (value, partial): (i64, bool),
    return_id: &str,
    (created_at, at): (Timestamp, Timestamp),
) -> Value {
    json!({
        "value": value,
        "time": instant(at),
        "endToEndId": return_id,
        "status": status,
        "type": "REFUND",
        "createdAt": instant(created_at),
        "partial": partial,
        "globalID": transaction_id(return_id),
    })
}

fn refund_time(refund: &Refund) -> Timestamp {
    match refund.outcome {
        RefundOutcome::Returned { at } => at,
        RefundOutcome::Processing | RefundOutcome::Failed { .. } => refund.requested_at,
    }
}

//! The bodies of webhooks, with the current state of their objects.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    state::delivery::{Delivery, Event, Subject, Webhook},
    views::{self, charge, dispute, payment, pix},
};
use crate::{
    psp::Psp,
    state::{Books, sent::SendOutcome},
    wire::instant,
};

/// Returns the body of a delivery; `None` if its object does not exist.
#[must_use]
pub fn body(psp: &Psp, books: &Books, delivery: &Delivery, webhook: &Webhook) -> Option<Value> {
    let mut fields = match &delivery.subject {
        Subject::Test => test(webhook),
        Subject::Charge(txid) => {
            let (_, cob) = books.find_cob(txid)?;
            owned(psp, [("charge", charge::charge(psp, books, cob))])
        }
        Subject::Pix(id) => {
            let received = books.find_payment(id)?;
            let shown = pix::pix(psp, books, received);
            let charge = field(&shown, "charge");
            owned(psp, [("charge", charge), ("pix", shown), ("pixQrCode", Value::Null), ("refunds", json!([]))])
        }
        Subject::Refund(end_to_end_id, id) => refund(psp, books, delivery.event, (end_to_end_id, id))?,
        Subject::Payment(id) => movement(books, delivery.event, id)?,
        Subject::Returned(id, return_id) => returned(psp, books, delivery.event, (id, return_id))?,
        Subject::Dispute(id) => {
            let (_, infraction) = books.infractions().find(id)?;
            fields([("dispute", dispute::detailed(infraction, "OPENED"))])
        }
    };
    fields.insert("event".to_owned(), serde_json::to_value(delivery.event).ok()?);
    Some(Value::Object(fields))
}

fn fields<const N: usize>(items: [(&str, Value); N]) -> Map<String, Value> {
    items.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns a field of an object, or null.
fn field(object: &Value, name: &str) -> Value {
    object.get(name).cloned().unwrap_or_default()
}

/// Returns the fields of `items`, and `company` and `account`.
fn owned<const N: usize>(psp: &Psp, items: [(&str, Value); N]) -> Map<String, Value> {
    let (company, account) = views::owner(psp);
    let mut all = fields(items);
    all.insert("company".to_owned(), company);
    all.insert("account".to_owned(), account);
    all
}

/// Returns the body of the test delivery that follows the registration of a webhook.
fn test(webhook: &Webhook) -> Map<String, Value> {
    fields([("data_criacao", instant(webhook.created_at).into()), ("evento", "teste_webhook".into())])
}

fn refund(
    psp: &Psp,
    books: &Books,
    event: Event,
    (end_to_end_id, id): (&Arc<str>, &str),
) -> Option<Map<String, Value>> {
    let received = books.find_payment(end_to_end_id)?;
    let refund = pix::refund_transaction(received, received.find_refund(id)?);
    let original = pix::pix(psp, books, received);
    if event == Event::RefundReceived {
        let mut shown = refund;
        let charge = field(&original, "charge");
        if let Some(fields) = shown.as_object_mut() {
            fields.insert("charge".to_owned(), charge.clone());
            fields.insert("pixKey".to_owned(), psp.identity.pix_key.as_str().into());
        }
        let items = [("charge", charge), ("pix", shown), ("pixQrCode", Value::Null), ("refunds", json!([]))];
        return Some(owned(psp, items));
    }
    let mut all = owned(psp, [("refundTransaction", refund), ("originalTransaction", original)]);
    if event == Event::RefundRejected {
        let error = json!({ "code": "AC03", "description": "O reembolso foi rejeitado pelo PSP do pagador" });
        all.insert("error".to_owned(), error);
    }
    Some(all)
}

fn movement(books: &Books, event: Event, id: &Arc<str>) -> Option<Map<String, Value>> {
    if event == Event::MovementRemoved {
        return Some(fields([("payment", json!({ "correlationID": id }))]));
    }
    let found = payment::Payment::find(books, id)?;
    let sent = found.sent?;
    let mut all = fields([("payment", found.payment()), ("transaction", payment::transaction(sent))]);
    if let SendOutcome::Failed(failure) = sent.outcome {
        all.insert("error".to_owned(), payment::error(failure));
    }
    Some(all)
}

fn returned(
    psp: &Psp,
    books: &Books,
    event: Event,
    (id, return_id): (&Arc<str>, &Arc<str>),
) -> Option<Map<String, Value>> {
    let sent = books.sends().find(id)?;
    let back = sent.returns.iter().find(|back| back.return_id == *return_id)?;
    let shown = pix::sent_return(sent, back);
    Some(if event == Event::RefundReceived {
        owned(psp, [("charge", Value::Null), ("pix", shown), ("pixQrCode", Value::Null), ("refunds", json!([]))])
    } else {
        owned(psp, [("refundTransaction", shown), ("originalTransaction", pix::sent_pix(sent))])
    })
}

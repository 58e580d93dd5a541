//! Reads received Pix: those of a charge, one by its end-to-end id, and those of a period. Reads returns of sent Pix.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, ListRequest, ReceivedPix, ReturnedPart, UpstreamPage, UpstreamPayment};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::list::{self, List};
use super::refund;
use super::refusal;
use super::wire::{at, cents, word};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Reply, part};

const TRANSACTIONS: List = List {
    path: "/transaction",
    field: "transactions",
    per_page: 100,
    names: &["/endToEndId", "/charge/correlationID"],
};
/// The words of a transaction in texts of refusals.
const TRANSACTION: [&str; 2] = ["transaction", "transacao"];

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    transaction: Option<&'a RawValue>,
}

/// A transaction. The API writes the end-to-end id in two ways.
#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow, rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    #[serde(rename = "endToEndID")]
    older_end_to_end_id: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
    r#type: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    charge: Option<&'a RawValue>,
}

impl Transaction<'_> {
    fn id(&self) -> Option<String> {
        word(self.end_to_end_id).or_else(|| word(self.older_end_to_end_id))
    }
}

#[derive(Deserialize)]
struct OfCharge<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
}

/// Returns the received Pix of a charge with their returns, oldest first.
///
/// Each row must name the charge: a filter that the server ignores would show the Pix of other charges.
pub(super) async fn of_charge(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Vec<UpstreamPayment>, FindError> {
    let row = |place: &str, row: &RawValue| match read(place, row)? {
        Some(pix) if pix.txid.as_ref() == Some(txid) => Ok(Some(pix.payment)),
        Some(_) => Err(Defect::mismatch(&format!("{place}.charge"), "is not the requested charge")),
        None => Ok(None),
    };
    let page = list::fetch(api, TRANSACTIONS, &[("charge", txid.as_str())], 0, deadline, row).await?;
    // No payment is skipped.
    if let Some(row) = page.unreadable.into_iter().next() {
        return Err(Defect::Mismatch(row.reason).into());
    }
    if page.next.is_some() {
        return Err(Defect::mismatch(TRANSACTIONS.field, "has more than a page").into());
    }
    let mut payments = page.rows;
    payments.sort_by(|one, other| (one.paid_at, &one.end_to_end_id).cmp(&(other.paid_at, &other.end_to_end_id)));
    payments.dedup();
    let mut ids: Vec<_> = payments.iter().map(|pix| &pix.end_to_end_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < payments.len() {
        return Err(Defect::mismatch(TRANSACTIONS.field, "has one endToEndId with different facts").into());
    }
    // A return does not name its Pix, so the returns of several Pix cannot be distinguished.
    if let [payment] = payments.as_mut_slice() {
        payment.returns = refund::of_charge(api, txid, &payment.end_to_end_id, deadline).await?;
    }
    Ok(payments)
}

/// Reads a received Pix with its returns; `None` if Woovi names its absence.
pub(super) async fn find(
    api: &Api,
    end_to_end_id: &EndToEndId,
    deadline: Deadline,
) -> Result<Option<ReceivedPix>, AcquirerError> {
    look_up(api, end_to_end_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, end_to_end_id: &EndToEndId, deadline: Deadline) -> Result<Option<ReceivedPix>, FindError> {
    let Some(mut pix) = find_bare(api, end_to_end_id, deadline).await? else { return Ok(None) };
    if let Some(txid) = &pix.txid {
        pix.payment.returns = refund::of_charge(api, txid, end_to_end_id, deadline).await?;
    }
    Ok(Some(pix))
}

/// Reads a received Pix without its returns.
pub(super) async fn find_bare(
    api: &Api,
    end_to_end_id: &EndToEndId,
    deadline: Deadline,
) -> Result<Option<ReceivedPix>, FindError> {
    let Some(reply) = look(api, end_to_end_id.as_str(), deadline).await? else { return Ok(None) };
    let pix = read("transaction", in_envelope(&reply)?)?
        .ok_or_else(|| Defect::mismatch("transaction", "is not a received Pix"))?;
    if pix.payment.end_to_end_id != *end_to_end_id {
        return Err(Defect::mismatch("endToEndId", "differs from the request").into());
    }
    Ok(Some(pix))
}

/// Requests `GET /transaction/{id}`; `None` if Woovi names the absence.
async fn look(api: &Api, id: &str, deadline: Deadline) -> Result<Option<Reply>, FindError> {
    let reply = api.get(&format!("/transaction/{id}"), deadline).await?;
    Ok((!refusal::is_absence(&reply, &TRANSACTION)).then_some(reply))
}

fn in_envelope(reply: &Reply) -> Result<&RawValue, FindError> {
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    let missing = || Defect::Unreadable("the answer has no transaction".to_owned());
    Ok(envelope.transaction.ok_or_else(missing)?)
}

/// Reads the return of a sent Pix by the id of the return; `None` if Woovi does not show the return as settled.
pub(super) async fn find_return(
    api: &Api,
    return_id: &ReturnId,
    deadline: Deadline,
) -> Result<Option<ReturnedPart>, AcquirerError> {
    look_up_return(api, return_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up_return(
    api: &Api,
    return_id: &ReturnId,
    deadline: Deadline,
) -> Result<Option<ReturnedPart>, FindError> {
    let Some(reply) = look(api, return_id.as_str(), deadline).await? else { return Ok(None) };
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("transaction.{field}"), what);
    let unreadable = || Defect::mismatch("transaction", "cannot be read");
    let row: Transaction<'_> = part(Some(in_envelope(&reply)?)).ok_or_else(unreadable)?;
    if row.id().as_deref() != Some(return_id.as_str()) {
        return Err(wrong("endToEndId", "differs from the request").into());
    }
    // The documents exchange the values of `type` and `status`.
    let (kind, status) = (word(row.r#type), word(row.status));
    let is_return = [&kind, &status].into_iter().any(|found| found.as_deref() == Some("REFUND"));
    // A return with a charge gave back a received Pix, and is no money of a payout.
    if !is_return || txid(&row).is_some() {
        tracing::warn!(acquirer = %api.name(), %return_id, "transaction is not the return of a sent Pix; it is not credited");
        return Ok(None);
    }
    if [&kind, &status].into_iter().flatten().any(|found| !["REFUND", "CONFIRMED"].contains(&found.as_str())) {
        return Ok(None);
    }
    let amount = row.value.and_then(cents).ok_or_else(|| wrong("value", "is not an amount"))?;
    let at = at(row.time).ok_or_else(|| wrong("time", "is not an instant"))?;
    Ok(Some(ReturnedPart { return_id: return_id.clone(), amount, at }))
}

/// Requests `GET /transaction`. The rows have no returns: those need a request per charge. An unreadable Pix is
/// reported if it may belong to one of our charges, otherwise skipped.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
    let row = |place: &str, row: &RawValue| match read(place, row) {
        Err(defect) if part::<Transaction<'_>>(Some(row)).is_some_and(|row| txid(&row).is_none()) => {
            let reason = defect.reason();
            tracing::warn!(acquirer = %api.name(), reason, "Pix without a charge of this service cannot be read; it is skipped");
            Ok(None)
        }
        read => read,
    };
    list::page(api, TRANSACTIONS, request, deadline, row).await
}

/// Parses a transaction; `None` for one that is not a received Pix, or not yet.
fn read(place: &str, row: &RawValue) -> Result<Option<ReceivedPix>, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{place}.{field}"), what);
    let row: Transaction<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(place, "cannot be read"))?;
    match word(row.r#type).as_deref() {
        // The documents show all of these for received Pix.
        None | Some("PAYMENT" | "DYNAMIC" | "STATIC") => {}
        Some("WITHDRAW" | "REFUND" | "FEE") => return Ok(None),
        Some(_) => return Err(wrong("type", "is not a known type")),
    }
    // An unknown status is unfinished: the Pix is read again until its status is known.
    if word(row.status).is_some_and(|status| status != "CONFIRMED") {
        return Ok(None);
    }
    let end_to_end_id = row.id().and_then(|text| EndToEndId::parse(&text).ok());
    let end_to_end_id = end_to_end_id.ok_or_else(|| wrong("endToEndId", "is not an end-to-end id"))?;
    let amount = row.value.and_then(cents).ok_or_else(|| wrong("value", "is not an amount"))?;
    let paid_at = at(row.time).ok_or_else(|| wrong("time", "is not an instant"))?;
    let payment = UpstreamPayment { end_to_end_id, amount, paid_at, returns: Vec::new() };
    Ok(Some(ReceivedPix { txid: txid(&row), payment }))
}

/// Returns the txid of the charge; `None` without one, or with one that cannot be ours.
fn txid(row: &Transaction<'_>) -> Option<Txid> {
    let charge: OfCharge<'_> = part(row.charge)?;
    Txid::parse(&word(charge.correlation_id)?).ok()
}

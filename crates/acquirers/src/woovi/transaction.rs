//! Reads received Pix: the Pix of a charge, one Pix by its end-to-end id, and the Pix of a period.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use cais_ports::{
    AcquirerError, ListRequest, ReceivedPix, ReturnNature, UnreadableRow, UpstreamPage, UpstreamPayment,
    UpstreamProgress, UpstreamReturn, alerts,
};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::dispute_status;
use super::list::{self, List};
use super::refund::{self, ChargeReturn};
use super::refusal;
use super::wire::{at, cents, non_empty_text};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Reply, part};

/// The number of concurrent reads of returns for one page. Sequential reads could exceed the page's deadline.
const RETURNS_AT_ONCE: usize = 8;
const TRANSACTIONS: List = List {
    path: "/transaction",
    field: "transactions",
    per_page: 100,
    names: &["/endToEndId", "/charge/correlationID"],
};
/// The words for a transaction in Woovi's error messages.
const TRANSACTION: [&str; 2] = ["transaction", "transacao"];

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    transaction: Option<&'a RawValue>,
}

/// A transaction. The API has two names for the field of the end-to-end id.
#[derive(Deserialize)]
pub(super) struct Transaction<'a> {
    #[serde(borrow, rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    #[serde(rename = "endToEndID")]
    older_end_to_end_id: Option<&'a RawValue>,
    pub(super) value: Option<&'a RawValue>,
    pub(super) time: Option<&'a RawValue>,
    pub(super) r#type: Option<&'a RawValue>,
    pub(super) status: Option<&'a RawValue>,
    pub(super) charge: Option<&'a RawValue>,
}

impl Transaction<'_> {
    pub(super) fn id(&self) -> Option<String> {
        non_empty_text(self.end_to_end_id).or_else(|| non_empty_text(self.older_end_to_end_id))
    }
}

#[derive(Deserialize)]
struct OfCharge<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
}

/// A received Pix without its returns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Received {
    pix: ReceivedPix,
    /// True if the status shows that money was returned.
    is_refunded: bool,
}

/// Returns the received Pix of a charge with their returns, oldest first.
pub(super) async fn of_charge(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Vec<UpstreamPayment>, FindError> {
    let mut received = bare_of_charge(api, txid, deadline).await?;
    if !received.is_empty() {
        let rows = refund::of_charge(api, txid, deadline).await?;
        attach_returns(api, txid, (rows, &mut received), deadline).await?;
    }
    Ok(received.into_iter().map(|one| one.pix.payment).collect())
}

/// Returns the received Pix of a charge, oldest first.
///
/// Each row must name the charge, because a server that ignores the filter returns the Pix of other charges too.
async fn bare_of_charge(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Vec<Received>, FindError> {
    let row = |place: &str, row: &RawValue| match read(place, row)? {
        Some(received) if received.pix.txid.as_ref() == Some(txid) => Ok(Some(received)),
        Some(_) => Err(Defect::mismatch(&format!("{place}.charge"), "is not the requested charge")),
        None => Ok(None),
    };
    let page = list::fetch(api, TRANSACTIONS, &[("charge", txid.as_str())], 0, deadline, row).await?;
    // An unreadable row fails the read, so that no payment is skipped.
    if let Some(row) = page.unreadable.into_iter().next() {
        return Err(Defect::Mismatch(row.reason).into());
    }
    if page.next.is_some() {
        return Err(Defect::mismatch(TRANSACTIONS.field, "has more than a page").into());
    }
    let mut received = page.rows;
    received.sort_by(|one, other| {
        let (one, other) = (&one.pix.payment, &other.pix.payment);
        (one.paid_at, &one.end_to_end_id).cmp(&(other.paid_at, &other.end_to_end_id))
    });
    received.dedup();
    let mut ids: Vec<_> = received.iter().map(|one| &one.pix.payment.end_to_end_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < received.len() {
        return Err(Defect::mismatch(TRANSACTIONS.field, "has one endToEndId with different facts").into());
    }
    Ok(received)
}

/// Adds the returns of a charge to its Pix. A return belongs to the Pix that it names. A return that names no Pix belongs
/// to the charge's only Pix. If the charge has several Pix, a return by another system belongs to the only one whose
/// status shows a return.
///
/// If none of these rules finds the Pix, a refund of this service is skipped, because refunds are read by their own id. A
/// return by another system raises an alert, unless the return failed.
async fn attach_returns(
    api: &Api,
    txid: &Txid,
    (rows, received): (Vec<ChargeReturn>, &mut [Received]),
    deadline: Deadline,
) -> Result<(), FindError> {
    if rows.is_empty() && received.iter().any(|one| one.is_refunded) {
        return Err(Defect::mismatch("refunds", "does not show the return of a refunded Pix").into());
    }
    let is_alone = received.len() == 1;
    for ChargeReturn { back, of } in rows {
        let is_foreign = back.refund().is_none();
        let named = received.iter().position(|one| of.as_ref() == Some(&one.pix.payment.end_to_end_id));
        let mut refunded = received.iter().enumerate().filter(|(_, one)| one.is_refunded).map(|(place, _)| place);
        let only_refunded = refunded.next().filter(|_| is_foreign && refunded.next().is_none());
        match named.or_else(|| is_alone.then_some(0)).or(only_refunded).and_then(|place| received.get_mut(place)) {
            Some(one) => one.pix.payment.returns.push(back),
            None if is_foreign && !matches!(back.progress, UpstreamProgress::Failed { .. }) => tracing::error!(
                alert = alerts::PAYMENT_RETURNED, acquirer = %api.name(), %txid, returned = %back.amount, name = back.name,
                "return names no Pix, and its charge has several; manual settlement with the merchant needed"
            ),
            None => {}
        }
    }
    for one in received {
        let UpstreamPayment { end_to_end_id, returns, .. } = &mut one.pix.payment;
        let is_foreign = |one: &UpstreamReturn| one.refund().is_none();
        // A return by another system belongs to the dispute of the Pix, if there is an accepted dispute.
        if returns.iter().any(is_foreign) && dispute_status::is_accepted(api, end_to_end_id, deadline).await? {
            returns.iter_mut().filter(|one| is_foreign(one)).for_each(|one| one.nature = ReturnNature::Infraction);
        }
    }
    Ok(())
}

/// Reads a received Pix with its returns. Returns `None` if Woovi answers that the Pix does not exist.
pub(super) async fn find(
    api: &Api,
    end_to_end_id: &EndToEndId,
    deadline: Deadline,
) -> Result<Option<ReceivedPix>, AcquirerError> {
    look_up(api, end_to_end_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, end_to_end_id: &EndToEndId, deadline: Deadline) -> Result<Option<ReceivedPix>, FindError> {
    match read_one(api, end_to_end_id, deadline).await? {
        Some(received) => with_returns(api, received, deadline).await.map(Some),
        None => Ok(None),
    }
}

/// Adds the returns to a received Pix. The other Pix of its charge are read if the charge has returns.
async fn with_returns(api: &Api, received: Received, deadline: Deadline) -> Result<ReceivedPix, FindError> {
    let Some(txid) = received.pix.txid.clone() else { return Ok(received.pix) };
    let rows = refund::of_charge(api, &txid, deadline).await?;
    if rows.is_empty() && !received.is_refunded {
        return Ok(received.pix);
    }
    let mut all = bare_of_charge(api, &txid, deadline).await?;
    attach_returns(api, &txid, (rows, &mut all), deadline).await?;
    let this = all.into_iter().find(|one| one.pix.payment.end_to_end_id == received.pix.payment.end_to_end_id);
    Ok(this.ok_or_else(|| Defect::mismatch(TRANSACTIONS.field, "does not show the Pix of its charge"))?.pix)
}

/// Reads a received Pix without its returns.
pub(super) async fn find_bare(
    api: &Api,
    end_to_end_id: &EndToEndId,
    deadline: Deadline,
) -> Result<Option<ReceivedPix>, FindError> {
    Ok(read_one(api, end_to_end_id, deadline).await?.map(|received| received.pix))
}

async fn read_one(api: &Api, end_to_end_id: &EndToEndId, deadline: Deadline) -> Result<Option<Received>, FindError> {
    let Some(reply) = get(api, end_to_end_id.as_str(), deadline).await? else { return Ok(None) };
    let received = read("transaction", in_envelope(&reply)?)?;
    let received = received.ok_or_else(|| Defect::mismatch("transaction", "is not a received Pix"))?;
    if received.pix.payment.end_to_end_id != *end_to_end_id {
        return Err(Defect::mismatch("endToEndId", "differs from the request").into());
    }
    Ok(Some(received))
}

/// Requests `GET /transaction/{id}`. Returns `None` if Woovi answers that the transaction does not exist.
pub(super) async fn get(api: &Api, id: &str, deadline: Deadline) -> Result<Option<Reply>, FindError> {
    let reply = api.get(&format!("/transaction/{id}"), deadline).await?;
    Ok((!refusal::is_absence(&reply, &TRANSACTION)).then_some(reply))
}

pub(super) fn in_envelope(reply: &Reply) -> Result<&RawValue, FindError> {
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    let missing = || Defect::Unreadable("the answer has no transaction".to_owned());
    Ok(envelope.transaction.ok_or_else(missing)?)
}

/// Requests `GET /transaction`. Returns are read only for Pix whose status shows a return, because each read of returns
/// is one more request. An unreadable Pix is reported if it may belong to one of our charges. Otherwise it is skipped.
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
    let page = list::page(api, TRANSACTIONS, request, deadline, row).await?;
    let (mut rows, mut unreadable) = (Vec::with_capacity(page.rows.len()), page.unreadable);
    let read = |received: Received| async move {
        let name = received.pix.payment.end_to_end_id.to_string();
        let pix = if received.is_refunded { with_returns(api, received, deadline).await } else { Ok(received.pix) };
        (name, pix)
    };
    let mut reads = stream::iter(page.rows).map(read).buffered(RETURNS_AT_ONCE);
    while let Some((name, pix)) = reads.next().await {
        match pix {
            Ok(pix) => rows.push(pix),
            Err(FindError::Defect(defect)) => unreadable.push(UnreadableRow { name, reason: defect.reason() }),
            Err(error) => return Err(error.of_a_read()),
        }
    }
    Ok(UpstreamPage { rows, unreadable, next: page.next, pages: page.pages })
}

/// Parses a transaction. Returns `None` if the transaction is not a received Pix, or is not completed.
fn read(place: &str, row: &RawValue) -> Result<Option<Received>, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{place}.{field}"), what);
    let row: Transaction<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(place, "cannot be read"))?;
    match non_empty_text(row.r#type).as_deref() {
        // Woovi's documents show all these types for received Pix.
        None | Some("PAYMENT" | "DYNAMIC" | "STATIC") => {}
        Some("WITHDRAW" | "REFUND" | "FEE" | "INTERNAL_TRANSFER" | "BALANCE_BLOCK" | "BALANCE_UNBLOCK") => {
            return Ok(None);
        }
        Some(_) => return Err(wrong("type", "is not a known type")),
    }
    let is_refunded = match non_empty_text(row.status).as_deref() {
        None | Some("CONFIRMED") => false,
        Some("REFUNDED" | "PARTIAL_REFUND") => true,
        // A Pix with an unknown status counts as not completed.
        Some(_) => return Ok(None),
    };
    let end_to_end_id = row.id().and_then(|text| EndToEndId::parse(&text).ok());
    let end_to_end_id = end_to_end_id.ok_or_else(|| wrong("endToEndId", "is not an end-to-end id"))?;
    let amount = row.value.and_then(cents).ok_or_else(|| wrong("value", "is not an amount"))?;
    let paid_at = at(row.time).ok_or_else(|| wrong("time", "is not an instant"))?;
    let payment = UpstreamPayment { end_to_end_id, amount, paid_at, returns: Vec::new() };
    Ok(Some(Received { pix: ReceivedPix { txid: txid(&row), payment }, is_refunded }))
}

/// Returns the txid of the charge. Returns `None` without a charge, or if the charge's id is not a valid txid.
fn txid(row: &Transaction<'_>) -> Option<Txid> {
    let charge: OfCharge<'_> = part(row.charge)?;
    Txid::parse(&non_empty_text(charge.correlation_id)?).ok()
}

//! Lists disputes (MED), and sends evidence as a defense.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use cais_ports::{
    AcquirerError, DefenseOrder, DefenseReceipt, ListRequest, UnreadableRow, UpstreamInfraction,
    UpstreamInfractionStatus, UpstreamPage,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::dispute_status;
use super::list::{self, List};
use super::refusal;
use super::transaction;
use super::wire::{at, cents, non_empty_text};
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::efi::infraction::{is_id, situation};
use crate::http::{Defect, FindError, part};

/// The list of disputes. Each dispute without an amount needs one more request, so a page is short.
const DISPUTES: List = List { path: "/dispute", field: "disputes", per_page: 10, names: &["/id", "/endToEndId"] };
/// The longest kept reason, in characters: the limit of the Central Bank's directory DICT. A longer reason is cut.
const MAX_REASON_CHARS: usize = 2_000;
/// The reason for refusing a defense without an address.
const NEEDS_ADDRESS: &str =
    "Woovi accepts only documents as a defense: give the address of a document as `defense_evidence_url`";
/// The prefix of the `correlationID` of our evidence. The id of the dispute follows.
const EVIDENCE: &str = "defense-";

/// A dispute. Some answers about disputes of the type `MED` have no amount and no reason.
#[derive(Deserialize)]
struct Dispute<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    #[serde(rename = "disputeReason")]
    reason: Option<&'a RawValue>,
    #[serde(rename = "createdAt")]
    created_at: Option<&'a RawValue>,
}

/// A row of the list. `amount` and `opened_at` may be missing.
struct Row {
    id: String,
    end_to_end_id: EndToEndId,
    status: UpstreamInfractionStatus,
    reason: Option<String>,
    amount: Option<Money>,
    opened_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Evidence<'a> {
    documents: [Document<'a>; 1],
}

#[derive(Serialize)]
struct Document<'a> {
    url: &'a str,
    description: &'a str,
    #[serde(rename = "correlationID")]
    correlation_id: String,
}

#[derive(Deserialize)]
struct Accepted<'a> {
    #[serde(borrow)]
    documents: Option<Vec<&'a RawValue>>,
}

/// Requests `GET /dispute`. If a row has no amount or no creation time, the amount or the time of its Pix is used.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
    let page = list::page(api, DISPUTES, request, deadline, |place, row| read(place, row).map(Some)).await?;
    let (mut rows, mut unreadable) = (Vec::with_capacity(page.rows.len()), page.unreadable);
    for row in page.rows {
        let id = row.id.clone();
        match complete(api, row, deadline).await {
            Ok(infraction) => rows.push(infraction),
            Err(FindError::Defect(defect)) => unreadable.push(UnreadableRow { name: id, reason: defect.reason() }),
            Err(error) => return Err(error.of_a_read()),
        }
    }
    Ok(UpstreamPage { rows, unreadable, next: page.next, pages: page.pages })
}

/// Completes a row. A missing amount or creation time is read from the Pix.
async fn complete(api: &Api, row: Row, deadline: Deadline) -> Result<UpstreamInfraction, FindError> {
    let (amount, opened_at) = match (row.amount, row.opened_at) {
        (Some(amount), Some(opened_at)) => (amount, opened_at),
        (amount, opened_at) => {
            let pix = transaction::find_bare(api, &row.end_to_end_id, deadline).await?;
            let pix = pix.ok_or_else(|| Defect::mismatch("endToEndId", "names no Pix of the account"))?;
            (amount.unwrap_or(pix.payment.amount), opened_at.unwrap_or(pix.payment.paid_at))
        }
    };
    Ok(UpstreamInfraction {
        id: row.id,
        end_to_end_id: row.end_to_end_id,
        amount,
        status: row.status,
        situation: row.reason.as_deref().map_or(Situation::Unknown, situation),
        reason: row.reason,
        opened_at,
        // Woovi does not report reopenings: the creation time of a dispute does not change when the dispute is reopened.
        opened_at_is_reported: false,
        deadline_at: None,
        defense: None,
        resolved_at: None,
    })
}

/// Parses a row. The end-to-end id and the status are required. An amount may be missing, but must be readable.
fn read(place: &str, row: &RawValue) -> Result<Row, Defect> {
    let row: Dispute<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(place, "cannot be read"))?;
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{place}.{field}"), what);
    let end_to_end_id = non_empty_text(row.end_to_end_id).and_then(|text| EndToEndId::parse(&text).ok());
    let end_to_end_id = end_to_end_id.ok_or_else(|| wrong("endToEndId", "is not an end-to-end id"))?;
    // A dispute without an id is addressed by the end-to-end id of its Pix.
    let id = non_empty_text(row.id).unwrap_or_else(|| end_to_end_id.to_string());
    if !is_id(&id) {
        return Err(wrong("id", "is not a dispute id"));
    }
    let amount = row.value.map(|value| cents(value).ok_or_else(|| wrong("value", "is not an amount"))).transpose()?;
    let status = non_empty_text(row.status)
        .map(|status| dispute_status::parse(&status))
        .ok_or_else(|| wrong("status", "is missing"))?;
    let reason = non_empty_text(row.reason).and_then(|text| line(&text, MAX_REASON_CHARS));
    Ok(Row { id, end_to_end_id, status, reason, amount, opened_at: at(row.created_at) })
}

/// Sends `POST /dispute/{id}/evidence` once, with the text of the defense as the description of the merchant's document.
pub(super) async fn defend(
    api: &Api,
    order: &DefenseOrder,
    deadline: Deadline,
) -> Result<DefenseReceipt, AcquirerError> {
    if !is_id(&order.infraction) {
        return Err(AcquirerError::Refused("the infraction's id is not in Woovi's format".to_owned()));
    }
    let Some(url) = &order.evidence_url else { return Err(AcquirerError::Refused(NEEDS_ADDRESS.to_owned())) };
    let document =
        Document { url, description: &order.text, correlation_id: format!("{EVIDENCE}{}", order.infraction) };
    let path = format!("/dispute/{}/evidence", order.infraction);
    let reply = api.post((&path, &[]), &Evidence { documents: [document] }, deadline).await?;
    if refusal::is_duplicate(&reply) {
        return Ok(DefenseReceipt::AlreadyThere);
    }
    let receipt = if reply.status.is_success() {
        let accepted: Accepted<'_> = reply.read(refusal::of_reply).map_err(FindError::of_a_read)?;
        let missing = || AcquirerError::OutcomeUnknown("the answer has no documents".to_owned());
        accepted.documents.filter(|documents| !documents.is_empty()).map(|_| DefenseReceipt::Taken).ok_or_else(missing)
    } else {
        Err(refusal::of_order(&reply))
    };
    if receipt.is_err() {
        let (status, infraction) = (reply.status.as_u16(), &order.infraction);
        tracing::info!(acquirer = %api.name(), infraction, status, ?receipt, "defense not accepted by the acquirer");
    }
    receipt
}

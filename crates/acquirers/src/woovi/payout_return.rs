//! Reads the returns of sent Pix: one by its own id, and those of a period. Woovi shows such a return as a transaction that does not name
//! its payment.

use cais_domain::end_to_end_id::ReturnId;
use cais_ports::{AcquirerError, ListRequest, ReturnedPart, UpstreamPage};
use serde_json::value::RawValue;

use super::api::Api;
use super::list::{self, List};
use super::transaction::{Transaction, get, in_envelope};
use super::wire::{at, cents, non_empty_text};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part};

const RETURNS: List =
    List { path: "/transaction?type=REFUND", field: "transactions", per_page: 100, names: &["/endToEndId"] };
const RETURN: &str = "REFUND";

/// Reads a return by its id. Returns `None` if Woovi does not show the return as settled, or if the id names no return of a sent Pix.
pub(super) async fn find(
    api: &Api,
    return_id: &ReturnId,
    deadline: Deadline,
) -> Result<Option<ReturnedPart>, AcquirerError> {
    look_up(api, return_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, return_id: &ReturnId, deadline: Deadline) -> Result<Option<ReturnedPart>, FindError> {
    let Some(reply) = get(api, return_id.as_str(), deadline).await? else { return Ok(None) };
    let row = parse("transaction", in_envelope(&reply)?)?;
    if row.id().as_deref() != Some(return_id.as_str()) {
        return Err(Defect::mismatch("transaction.endToEndId", "differs from the request").into());
    }
    if !is_of_sent_pix(&row) {
        tracing::warn!(acquirer = %api.name(), %return_id, "transaction is not the return of a sent Pix; it is not credited");
        return Ok(None);
    }
    Ok(if is_settled(&row) == Some(true) { Some(read("transaction", &row)?) } else { None })
}

/// Requests `GET /transaction?type=REFUND`. Returns of received Pix and unsettled returns are skipped. A row with an unknown status is
/// unreadable, because it may be settled.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<ReturnedPart>, AcquirerError> {
    let row = |place: &str, row: &RawValue| {
        let row = parse(place, row)?;
        if !is_of_sent_pix(&row) {
            return Ok(None);
        }
        match is_settled(&row) {
            Some(true) => read(place, &row).map(Some),
            Some(false) => Ok(None),
            None => Err(Defect::mismatch(&format!("{place}.status"), "is not a known status")),
        }
    };
    list::page(api, RETURNS, request, deadline, row).await
}

fn parse<'a>(place: &str, row: &'a RawValue) -> Result<Transaction<'a>, Defect> {
    part(Some(row)).ok_or_else(|| Defect::mismatch(place, "cannot be read"))
}

/// Returns whether the transaction is the return of a sent Pix. In some of Woovi's documents the values of `type` and `status` are
/// exchanged, so both fields are checked. A return with a charge is the return of a received Pix. The charge may be of another system.
fn is_of_sent_pix(row: &Transaction<'_>) -> bool {
    let is_return = [row.r#type, row.status].into_iter().any(|value| non_empty_text(value).as_deref() == Some(RETURN));
    is_return && row.charge.is_none()
}

/// Returns whether the return is settled. Returns `None` if the value of `type` or `status` is unknown.
fn is_settled(row: &Transaction<'_>) -> Option<bool> {
    let values = [row.r#type, row.status].into_iter().filter_map(non_empty_text);
    values
        .map(|value| match value.as_str() {
            RETURN | "CONFIRMED" => Some(true),
            "IN_PROCESSING" | "REJECTED" | "NOT_ACCOMPLISHED" => Some(false),
            _ => None,
        })
        .try_fold(true, |all, one| one.map(|one| all && one))
}

/// Parses the return of a sent Pix.
fn read(place: &str, row: &Transaction<'_>) -> Result<ReturnedPart, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{place}.{field}"), what);
    let return_id = row.id().and_then(|text| ReturnId::parse(&text).ok());
    let return_id = return_id.ok_or_else(|| wrong("endToEndId", "is not the id of a return"))?;
    let amount = row.value.and_then(cents).ok_or_else(|| wrong("value", "is not an amount"))?;
    let at = at(row.time).ok_or_else(|| wrong("time", "is not an instant"))?;
    Ok(ReturnedPart { return_id, amount, at })
}

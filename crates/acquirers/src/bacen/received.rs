//! Lists received Pix, and reads one of them.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, ListRequest, ReceivedPix, UpstreamPage};
use serde_json::value::RawValue;

use super::api::Api;
use super::list::{self, Rows};
use super::payment;
use super::wire::Pix;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, of_reply};

/// The problem kinds of an absent received Pix.
const PIX_ABSENT: [&str; 3] = ["PixNaoEncontrado", "NaoEncontrado", "pix_nao_encontrado"];

/// Requests `GET /v2/pix`. An unreadable Pix is reported if it may belong to one of our charges, otherwise skipped.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
    list::page(api, ("/v2/pix", Rows::Pix), request, deadline, |at, row| read(api, at, row)).await
}

/// Requests `GET /v2/pix/{e2eid}`, also for a Pix without one of our charges. Returns `None` if the institution answers
/// that the Pix does not exist.
pub(super) async fn find(
    api: &Api,
    end_to_end_id: &EndToEndId,
    deadline: Deadline,
) -> Result<Option<ReceivedPix>, AcquirerError> {
    look_up(api, end_to_end_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, end_to_end_id: &EndToEndId, deadline: Deadline) -> Result<Option<ReceivedPix>, FindError> {
    let path = format!("/v2/pix/{end_to_end_id}");
    let Some(reply) = api.get(&path, &PIX_ABSENT, deadline).await? else { return Ok(None) };
    let pix: Pix<'_> = serde_json::from_slice(reply.success(of_reply)?)
        .map_err(|_| Defect::Unreadable("the answer is not the JSON of a Pix".to_owned()))?;
    let payment = payment::read("pix", &pix, api.dates())?;
    if payment.end_to_end_id != *end_to_end_id {
        return Err(Defect::mismatch("endToEndId", "differs from the request").into());
    }
    let txid = pix.txid.as_deref().and_then(|text| Txid::parse(text).ok());
    Ok(Some(ReceivedPix { txid, payment }))
}

fn read(api: &Api, at: &str, row: &RawValue) -> Result<Option<ReceivedPix>, Defect> {
    let pix: Pix<'_> = serde_json::from_str(row.get()).map_err(|_| Defect::mismatch(at, "cannot be read"))?;
    let txid = pix.txid.as_deref().and_then(|text| Txid::parse(text).ok());
    match payment::read(at, &pix, api.dates()) {
        Ok(payment) => Ok(Some(ReceivedPix { txid, payment })),
        Err(defect) if txid.is_some() => Err(defect),
        Err(defect) => {
            let reason = defect.reason();
            tracing::warn!(acquirer = %api.name(), reason, "Pix without a charge of this service cannot be read; it is skipped");
            Ok(None)
        }
    }
}

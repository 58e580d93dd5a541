//! Lists what was received.

use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, ListRequest, ReceivedPix, UpstreamPage};
use serde_json::value::RawValue;

use super::api::Api;
use super::defect::Defect;
use super::wire::Pix;
use super::{list, payment};
use crate::deadline::Deadline;

/// `GET /v2/pix`. A Pix that may be one of our charges and cannot be read fails the page; one that cannot be is left out then.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
    list::page(api, "/v2/pix", request, deadline, |at, row| read(api, at, row)).await
}

fn read(api: &Api, at: &str, row: &RawValue) -> Result<Option<ReceivedPix>, Defect> {
    let pix: Pix<'_> = serde_json::from_str(row.get()).map_err(|_| Defect::mismatch(at, "cannot be read"))?;
    let txid = pix.txid.as_deref().and_then(|text| Txid::parse(text).ok());
    match payment::read(at, &pix) {
        Ok(payment) => Ok(Some(ReceivedPix { txid, payment })),
        Err(defect) if txid.is_some() => Err(defect),
        Err(defect) => {
            let reason = defect.reason();
            tracing::warn!(acquirer = %api.name(), reason, "a Pix that is for none of our charges cannot be read; left out");
            Ok(None)
        }
    }
}

//! `/dispute` of Woovi's API: disputes (the institution's infractions) and the evidence against them.

use actix_web::{HttpRequest, HttpResponse, web};
use cais_domain::hex;
use reqwest::Url;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    psp::Psp,
    requests::Operation,
    wire::instant,
    woovi::{
        PATH, disputes, error::WooviError, fields::Fields, paging::Query, state::payment::Document, views::dispute,
    },
};

/// The largest number of documents in a request.
const MAX_DOCUMENTS: usize = 20;

/// `GET /dispute`: disputes by creation, the newest first.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviDisputeList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    query.conclude()?;
    let store = psp.read();
    let all = store.books().infractions().all().iter().rev();
    let (rows, info) = page.cut(all.filter(|infraction| page.has(infraction.created_at)));
    let disputes: Vec<Value> = rows.into_iter().map(dispute::row).collect();
    Ok(answer(&json!({ "pageInfo": info, "disputes": disputes })))
}

/// `GET /dispute/{endToEndId}`: the newest dispute of the Pix with this end-to-end id, or the dispute with this id.
///
/// # Errors
/// 400 for an unknown dispute.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviDisputeRead)?;
    let store = psp.read();
    Ok(answer(&json!({ "dispute": dispute::one(disputes::find(store.books(), &id)?) })))
}

/// `POST /dispute/{id}/evidence` `{documents}`: 200 with the documents. Each has the URL of a copy at the institution. The
/// sandbox makes no copies, so nothing is found at these URLs.
///
/// # Errors
/// 400 for a bad body, an unknown or resolved dispute, and after the deadline.
pub async fn evidence(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviEvidenceCreate)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let documents = body.list("documents")?.into_iter().map(document).collect::<Result<Vec<_>, _>>()?;
    body.conclude()?;
    if !(1..=MAX_DOCUMENTS).contains(&documents.len()) {
        return Err(WooviError::refused("documents must have 1 to 20 items"));
    }
    psp.send_evidence(&id, &documents)?;
    let shown: Vec<Value> = documents.iter().map(|document| view(&psp, document)).collect();
    Ok(answer(&json!({ "documents": shown })))
}

fn document(value: Value) -> Result<Document, WooviError> {
    let mut fields = Fields::of_value("documents", value)?;
    let url = fields.required_text("url")?;
    if !Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Err(WooviError::refused("url must be an http or https URL"));
    }
    let document =
        Document { url, description: fields.text("description")?, correlation_id: fields.text("correlationID")? };
    fields.conclude()?;
    Ok(document)
}

/// Returns a document as JSON, with the URL that a copy at the institution would have.
fn view(psp: &Psp, document: &Document) -> Value {
    let name = hex::encode(digest(&SHA256, document.url.as_bytes()).as_ref().iter().take(16));
    json!({
        "url": format!("http://{}{PATH}files/{name}", psp.host),
        "description": document.description.as_deref(),
        "correlationID": document.correlation_id.as_deref(),
        "createdAt": instant(psp.clock.now()),
    })
}

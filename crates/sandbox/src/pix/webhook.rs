//! `/v2/webhook`: the webhook of a Pix key is the URL that receives its callbacks. The registration sends no request to this URL.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use jiff::Timestamp;
use reqwest::Url;
use serde::Serialize;
use serde_json::Value;

use super::{
    Shared, admit, body,
    fields::{self, Findings, Object},
    json,
    oauth::Scope,
    problem::{Kind, Problem},
    query::{Paging, Query},
};
use crate::{
    requests::Operation,
    state::change::{Change, Webhook},
    wire,
};

/// The longest URL of a webhook, in characters. Browsers and servers commonly accept URLs up to this length.
const MAX_URL: usize = 2000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    webhook_url: &'a str,
    chave: &'a str,
    #[serde(serialize_with = "wire::serialize_instant")]
    criacao: Timestamp,
}

/// The body of the response to a registration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Registered<'a> {
    webhook_url: &'a str,
}

/// `PUT /v2/webhook/{chave}`: registers or replaces the webhook of a Pix key. The response is 200 with the URL, as at Efí. In the
/// Central Bank's API this response has no body.
///
/// # Errors
/// 400 `WebhookOperacaoInvalida` for an invalid body, and for a Pix key that is not the account's.
pub async fn put(
    request: HttpRequest,
    key: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::WebhookWrite, Operation::WebhookSet)?;
    let body = body::json(&request, payload, Kind::WebhookInvalidOperation).await?;
    let url = read(body)?;
    if *key != psp.identity.pix_key {
        let reason = "is not a key of this receiver";
        return Err(Problem::violation(Kind::WebhookInvalidOperation, "chave", reason, &key));
    }
    let webhook = Webhook { url: Arc::from(&*url), created_at: psp.clock.now() };
    psp.write().commit(Change::WebhookSet { key: key.as_str().into(), webhook })?;
    json(StatusCode::OK, &Registered { webhook_url: &url })
}

fn read(body: Value) -> Result<Box<str>, Problem> {
    let path = "webhook.webhookUrl";
    let mut findings = Findings::default();
    let url = Object::open("webhook", body, &mut findings).and_then(|mut object| {
        let url = object.require("webhookUrl", &mut findings);
        let url = url.and_then(|value| fields::text(path, value, MAX_URL, &mut findings));
        object.close(&mut findings);
        if let Some(url) = &url
            && !Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        {
            findings.add(path, "must be an http or https URL", url);
        }
        url
    });
    findings.conclude(Kind::WebhookInvalidOperation, url)
}

/// `GET /v2/webhook/{chave}`: reads the webhook of a Pix key.
///
/// # Errors
/// 404 if the key has no webhook.
pub async fn get(request: HttpRequest, key: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::WebhookRead, Operation::WebhookRead)?;
    let store = psp.read();
    let webhook = store.books().find_webhook(&key).ok_or_else(unknown)?;
    json(StatusCode::OK, &View { webhook_url: &webhook.url, chave: &key, criacao: webhook.created_at })
}

/// `DELETE /v2/webhook/{chave}`: removes the webhook of a Pix key. The response is 204.
///
/// # Errors
/// 404 if the key has no webhook.
pub async fn delete(request: HttpRequest, key: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::WebhookWrite, Operation::WebhookRemove)?;
    let mut store = psp.write();
    store.books().find_webhook(&key).ok_or_else(unknown)?;
    store.commit(Change::WebhookRemoved { key: key.as_str().into() })?;
    Ok(HttpResponse::NoContent().finish())
}

fn unknown() -> Problem {
    Problem::new(Kind::WebhookNotFound, "the key has no webhook")
}

#[derive(Serialize)]
struct Listed<'a> {
    parametros: Parameters,
    webhooks: Vec<View<'a>>,
}

#[derive(Serialize)]
struct Parameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    inicio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fim: Option<String>,
    paginacao: Paging,
}

/// `GET /v2/webhook`: lists the webhooks, by key. The optional `inicio` and `fim` limit the instant of registration.
///
/// # Errors
/// 400 `WebhookConsultaInvalida` with violations.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::WebhookRead, Operation::WebhookList)?;
    let mut query = Query::of(&request);
    let page = query.page();
    let (from, to) = query.bounds();
    query.conclude(Kind::WebhookInvalidQuery, Some(()))?;
    let store = psp.read();
    let matching = store.books().webhooks().iter().filter(|(_, webhook)| {
        from.as_ref().is_none_or(|(from, _)| webhook.created_at >= *from)
            && to.as_ref().is_none_or(|(to, _)| webhook.created_at <= *to)
    });
    let (found, paging) = page.cut(matching);
    let webhooks = found
        .into_iter()
        .map(|(key, webhook)| View { webhook_url: &webhook.url, chave: key, criacao: webhook.created_at })
        .collect();
    let parametros =
        Parameters { inicio: from.map(|(_, text)| text), fim: to.map(|(_, text)| text), paginacao: paging };
    json(StatusCode::OK, &Listed { parametros, webhooks })
}

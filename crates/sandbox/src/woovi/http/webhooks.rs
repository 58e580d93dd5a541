//! `/webhook` of Woovi's API: registered webhooks, the possible events, and the public key that verifies signatures.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CACHE_CONTROL, HeaderValue},
    web,
};
use reqwest::Url;
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    psp::StoreError,
    random_ids,
    requests::Operation,
    wire::instant,
    woovi::{
        error::WooviError,
        fields::Fields,
        ids,
        paging::Query,
        state::{
            WooviChange,
            delivery::{Event, Webhook},
        },
        webhook_key,
    },
};

fn view(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "name": webhook.name,
        "url": webhook.url,
        "authorization": webhook.authorization.as_deref().unwrap_or_default(),
        "event": webhook.event,
        "isActive": webhook.is_active,
        "createdAt": instant(webhook.created_at),
        "updatedAt": instant(webhook.created_at),
    })
}

/// `POST /webhook` `{webhook}`: 200 with the webhook. A test delivery follows. The same request again registers a second webhook.
///
/// # Errors
/// 400 for a bad body.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviWebhookCreate)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let fields = body.take("webhook").ok_or_else(|| WooviError::refused("webhook is required"))?;
    body.conclude()?;
    let mut fields = Fields::of_value("webhook", fields)?;
    let name = fields.required_text("name")?;
    let url = fields.required_text("url")?;
    if !Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Err(WooviError::refused("url must be an http or https URL"));
    }
    let event = match fields.take("event") {
        None => Event::TransactionReceived,
        Some(value) => serde_json::from_value(value).map_err(|_| WooviError::refused("event is unknown"))?,
    };
    let authorization = fields.text("authorization")?.filter(|text| !text.is_empty());
    if authorization.as_deref().is_some_and(|text| HeaderValue::from_str(text).is_err()) {
        return Err(WooviError::refused("authorization must be a value of a header"));
    }
    let is_active = fields.flag("isActive")?.unwrap_or(true);
    fields.conclude()?;
    let id = ids::global("Webhook", &random_ids::hex().map_err(StoreError::from)?);
    let created_at = psp.clock.now();
    let webhook = Webhook { id: Arc::from(id), name, event, url, authorization, is_active, created_at };
    psp.commit_woovi(&mut psp.write(), WooviChange::WebhookCreated(webhook.clone()))?;
    Ok(answer(&json!({ "webhook": view(&webhook) })))
}

/// `GET /webhook?url=`: registered webhooks, oldest first; with `url` only those with this URL. `start` and `end` have no effect.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviWebhookList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    let url = query.take("url");
    query.conclude()?;
    let store = psp.read();
    let all = store.books().woovi().webhooks().iter();
    let (rows, info) = page.cut(all.filter(|webhook| url.as_deref().is_none_or(|url| *webhook.url == *url)));
    let webhooks: Vec<Value> = rows.into_iter().map(view).collect();
    Ok(answer(&json!({ "pageInfo": info, "webhooks": webhooks })))
}

/// `DELETE /webhook/{id}`: removes the webhook.
///
/// # Errors
/// 400 for an unknown webhook.
pub async fn delete(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviWebhookRemove)?;
    let mut store = psp.write();
    let found = store.books().woovi().webhooks().iter().find(|webhook| *webhook.id == **id);
    let id = found.ok_or_else(|| WooviError::not_found("Webhook"))?.id.clone();
    psp.commit_woovi(&mut store, WooviChange::WebhookRemoved { id })?;
    Ok(answer(&json!({ "status": "OK" })))
}

/// `GET /webhook/events`: the events that the sandbox publishes.
///
/// # Errors
/// 401 without the `AppID`.
pub async fn events(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviWebhookList)?;
    let events: Vec<Value> = Event::ALL.iter().map(|event| json!({ "name": event })).collect();
    Ok(answer(&json!({ "events": events })))
}

/// `GET /webhook/public-keys`: the key that verifies `x-webhook-signature`. The request needs no `AppID`.
pub async fn public_keys(psp: Shared) -> HttpResponse {
    psp.requests.count(Operation::WooviPublicKey);
    let key = json!({ "key_identifier": webhook_key::identifier(), "is_current": true, "key": webhook_key::PUBLIC });
    let mut response = answer(&json!({ "public_keys": [key] }));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    response
}

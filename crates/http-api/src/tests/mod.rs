//! Tests the whole HTTP API with the in-memory store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bank;
mod bed;
mod callbacks;
mod charges;
mod checks;
mod connections;
mod crypto;
mod events;
mod infractions;
mod log_lines;
mod open;
mod payouts;
mod receivers;
mod refunds;
mod sandbox;
mod statement;
mod transactions;
mod webhooks;

use std::sync::Arc;

use actix_http::Request;
use actix_service::boxed::{self, RcService};
use actix_web::body::to_bytes;
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::test::{TestRequest, call_service, init_service, read_body, try_call_service};
use serde_json::Value;

use self::bed::TestBed;
use super::server::Listener;
use super::state::AppState;

/// A response as a caller receives it.
#[derive(Debug)]
struct Seen {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or(Value::Null)
    }

    /// Returns the status and the error's code.
    fn error(&self) -> (u16, String) {
        (self.status, self.at("/error/code").as_str().unwrap_or("none").to_owned())
    }

    /// Returns the resource's id.
    fn id(&self) -> String {
        self.at("/id").as_str().unwrap().to_owned()
    }

    /// Returns the paths of the issues.
    fn paths(&self) -> Vec<String> {
        let issues = self.at("/error/issues");
        let each = issues.as_array().cloned().unwrap_or_default();
        each.iter().map(|issue| issue.get("path").unwrap().as_str().unwrap().to_owned()).collect()
    }
}

/// Sends a request to the public listener.
async fn send(bed: &TestBed, request: TestRequest) -> Seen {
    send_to(&bed.app, request).await
}

async fn send_to(app: &App, request: TestRequest) -> Seen {
    let response = match try_call_service(app, request.to_request()).await {
        Ok(response) => response.into_parts().1,
        // A real connection also sends the error's response.
        Err(error) => error.error_response(),
    };
    let (status, headers) = (response.status().as_u16(), response.headers().iter());
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    Seen { status, headers, body: to_bytes(response.into_body()).await.unwrap().to_vec() }
}

/// The application of a listener.
type App = RcService<Request, ServiceResponse, actix_web::Error>;

async fn app(state: &Arc<AppState>, listener: Listener) -> App {
    boxed::rc_service(init_service(super::server::app(state.clone(), listener)).await)
}

/// Sends a GET with the account's API key.
async fn get(bed: &TestBed, path: &str) -> Seen {
    send(bed, TestRequest::get().uri(path).insert_header(("x-api-key", bed.key.as_str()))).await
}

/// Sends a POST with the account's API key and a JSON body. `key` is the `Idempotency-Key`; an empty text omits the header.
async fn post(bed: &TestBed, path: &str, key: &str, body: &str) -> Seen {
    send(bed, posting(bed, path, key, body)).await
}

fn posting(bed: &TestBed, path: &str, key: &str, body: &str) -> TestRequest {
    let request = TestRequest::post().uri(path).insert_header(("authorization", format!("Bearer {}", bed.key)));
    let request = if key.is_empty() { request } else { request.insert_header(("Idempotency-Key", key)) };
    request.insert_header(("content-type", "application/json; charset=utf-8")).set_payload(body.to_owned())
}

/// Sends a request with this method, the account's API key and a JSON body.
async fn with_method(bed: &TestBed, method: Method, path: &str, body: &str) -> Seen {
    let request = TestRequest::default().method(method).uri(path).insert_header(("x-api-key", bed.key.as_str()));
    send(bed, request.insert_header(("content-type", "application/json")).set_payload(body.to_owned())).await
}

/// Registers a webhook endpoint for `events`, which is a JSON array. Returns the response.
async fn register(bed: &TestBed, url: &str, events: &str) -> Seen {
    let made = post(bed, "/v1/webhook-endpoints", "", &format!(r#"{{"url":"{url}","events":{events}}}"#)).await;
    assert_eq!(made.status, 201, "{made:?}");
    made
}

/// Creates a charge of that amount and pays it. Returns its id. The account is credited in full.
async fn fund(bed: &TestBed, amount: &str) -> String {
    let key = format!("fund-key-{}", bed.store.charges().len());
    let created = post(bed, "/v1/charges", &key, &format!(r#"{{"amount":{amount}}}"#)).await;
    assert_eq!(created.status, 201, "{created:?}");
    let id = created.at("/id").as_str().unwrap().to_owned();
    let paid = post(bed, &format!("/v1/sandbox/charges/{id}/pay"), "", "").await;
    assert_eq!((paid.status, paid.at("/status")), (200, "paid".into()), "{paid:?}");
    id
}

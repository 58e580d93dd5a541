//! The Central Bank's API Pix 2.9.0, as this institution offers it: charges, received Pix, returns, webhooks.

pub mod body;
pub mod cob;
pub mod cob_body;
pub mod cob_value;
pub mod fields;
pub mod oauth;
pub mod payload;
pub mod problem;
pub mod query;
pub mod received;
pub mod refund;
pub mod views;
pub mod webhook;

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde::Serialize;

use self::{
    oauth::Scope,
    problem::{Kind, Problem},
};
use crate::{psp::Psp, requests::Operation};

/// The institution, as the handlers of requests share it.
pub type Shared = web::Data<Arc<Psp>>;

/// Admits a request whose bearer token has `scope`, and counts the request.
///
/// # Errors
/// 401 for a missing, unknown or expired token; 403 for one without the scope.
pub fn admit(psp: &Psp, request: &HttpRequest, scope: Scope, operation: Operation) -> Result<(), Problem> {
    psp.tokens.check(request, psp.clock.now(), scope)?;
    psp.requests.count(operation);
    Ok(())
}

/// Returns an answer with a JSON body.
///
/// # Errors
/// 500 if the body cannot be serialized. That would be a defect of the simulator.
pub fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, Problem> {
    let bytes = serde_json::to_vec(body)
        .map_err(|error| Problem::new(Kind::InternalError, format!("the answer cannot be written: {error}")))?;
    Ok(HttpResponse::build(status).content_type("application/json").body(bytes))
}

//! What this institution adds to the API Pix, in the form of Efí's API: sending Pix, reading what was sent, the
//! balance, infractions.

pub mod balance;
pub mod infraction_views;
pub mod infractions;
pub mod refusal;
pub mod schema;
pub mod send;
pub mod send_body;
pub mod sent;
pub mod views;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;

use self::refusal::Refusal;
use crate::{
    pix::{self, oauth::Scope},
    psp::Psp,
    requests::Operation,
};

/// Part of every path of this API and of no other.
pub const PATH_PART: &str = "/gn/";

/// Lets a request in when its bearer token carries `scope`, and counts it.
///
/// # Errors
/// 401 `invalid_token`, 403 `insufficient_scope`.
fn admit(psp: &Psp, request: &HttpRequest, scope: Scope, operation: Operation) -> Result<(), Refusal> {
    psp.tokens.check(request, psp.clock.now(), scope)?;
    psp.requests.count(operation);
    Ok(())
}

/// An answer with a JSON body.
fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, Refusal> {
    Ok(pix::json(status, body)?)
}

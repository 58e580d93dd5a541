//! Extensions of the API Pix in the form of Efí's API: send Pix, read sent Pix, balance, infractions.

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

/// The part of the path that only this API has.
pub const PATH_PART: &str = "/gn/";

/// Admits a request whose bearer token has `scope`, and counts the request.
///
/// # Errors
/// 401 `invalid_token`, 403 `insufficient_scope`.
fn admit(psp: &Psp, request: &HttpRequest, scope: Scope, operation: Operation) -> Result<(), Refusal> {
    psp.tokens.check(request, psp.clock.now(), scope)?;
    psp.requests.count(operation);
    Ok(())
}

/// Returns an answer with a JSON body.
fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, Refusal> {
    Ok(pix::json(status, body)?)
}

//! The parts of a handler's description in the `OpenAPI` document: parameters, errors, examples, events.

pub mod events;
pub(crate) mod examples;
pub(crate) mod failures;
pub(crate) mod parameters;

use utoipa::openapi::response::Response;
use utoipa::openapi::{Ref, RefOr};

/// The media type of JSON bodies.
const JSON: &str = "application/json";

/// Adds references to shared headers.
pub fn add_headers(response: &mut Response, names: &[&str]) {
    for name in names {
        let reference = Ref::new(format!("#/components/headers/{name}"));
        response.headers.insert((*name).to_owned(), RefOr::Ref(reference));
    }
}

//! What can go wrong at each route, and how it is told.

use std::collections::BTreeMap;

use utoipa::openapi::Ref;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::Type;

use super::operations::JSON;
use super::{examples, header, with_headers};
use crate::http::error::ErrorCode;
use crate::http::routes::{Access, BodyRule, Endpoint, Route, Verb};

/// What the contract declares for the operations on `/charges`, whether or not this version answers it.
pub const DECLARED: [&str; 10] = ["400", "401", "403", "404", "409", "422", "429", "500", "502", "503"];
/// What is said of a status that is declared and, so far, not answered.
const NOT_ANSWERED: &str = "Declared for the operations on charges; this version does not answer it here.";

/// What can go wrong at a route, by status: what the endpoint names and what its access and body bring with them.
pub fn by_status(route: &Route, own: &[ErrorCode]) -> BTreeMap<String, Vec<ErrorCode>> {
    let by_access: &[ErrorCode] = match route.access {
        Access::Open | Access::SecretPath => &[],
        Access::AnyKey => &[ErrorCode::MissingApiKey, ErrorCode::InvalidApiKey, ErrorCode::RateLimitExceeded],
        Access::Scoped(_) => &[
            ErrorCode::MissingApiKey,
            ErrorCode::InvalidApiKey,
            ErrorCode::InsufficientScope,
            ErrorCode::RateLimitExceeded,
        ],
    };
    let by_body: &[ErrorCode] = match route.body {
        BodyRule::Unread | BodyRule::Callback => &[],
        BodyRule::Json => &[ErrorCode::ValidationError, ErrorCode::PayloadTooLarge, ErrorCode::UnsupportedMediaType],
    };
    let by_method: &[ErrorCode] = match (route.access, route.verb) {
        (Access::SecretPath, _) | (_, Verb::Any) => &[],
        (
            Access::Open | Access::AnyKey | Access::Scoped(_),
            Verb::Get | Verb::Post | Verb::Put | Verb::Patch | Verb::Delete,
        ) => &[ErrorCode::MethodNotAllowed],
    };
    // What is open asks nobody, but for whether the process is ready.
    let everywhere: &[ErrorCode] = match (route.access, route.endpoint == Endpoint::Ready) {
        (Access::Open, false) => &[ErrorCode::InternalError],
        (Access::Open | Access::SecretPath | Access::AnyKey | Access::Scoped(_), _) => {
            &[ErrorCode::InternalError, ErrorCode::ServiceUnavailable]
        }
    };
    let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
    if matches!(route.endpoint, Endpoint::ListCharges | Endpoint::CreateCharge) {
        by_status.extend(DECLARED.map(|status| (status.to_owned(), Vec::new())));
    }
    // In the order of the table, each once.
    for code in ErrorCode::ALL {
        if [own, by_access, by_body, by_method, everywhere].into_iter().flatten().any(|named| named == code) {
            by_status.entry(code.status().as_u16().to_string()).or_default().push(*code);
        }
    }
    by_status
}

/// The answer with a status, of the codes that come with it.
pub fn failure(status: &str, codes: &[ErrorCode], has_key: bool) -> ResponseBuilder {
    let what: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name(), code.message())).collect();
    let what = if what.is_empty() { NOT_ANSWERED.to_owned() } else { what.join("\n\n") };
    let examples = codes.iter().map(|code| {
        let example = ExampleBuilder::new().summary(code.message()).value(examples::failure(*code)).build();
        (code.name(), example)
    });
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).examples_from_iter(examples).build();
    // Whoever is not known has no window.
    let response = with_headers(ResponseBuilder::new().description(what), has_key && status != "401");
    let response = match status {
        "409" | "429" | "503" => {
            let what = "Seconds after which a repeat makes sense, where that is known.";
            response.header("Retry-After", header(what, Type::Integer))
        }
        "405" => response.header("Allow", header("The methods of this path.", Type::String)),
        _ => response,
    };
    response.content(JSON, content)
}

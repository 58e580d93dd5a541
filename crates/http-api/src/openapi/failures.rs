//! The failures of each operation, by status.

use std::borrow::Cow;
use std::collections::BTreeMap;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::operation::JSON;
use super::{examples, with_headers};
use crate::error::ErrorCode;
use crate::routes::{Access, BodyRule, Route};

/// The statuses that the contract declares for the operations on `/charges`.
pub const DECLARED: [&str; 10] = ["400", "401", "403", "404", "409", "422", "429", "500", "502", "503"];
/// The description of a declared status that this version does not return.
const NOT_ANSWERED: &str = "Declared for the operations on charges; this version does not return it here.";
/// Codes of every operation, and the name of their shared description.
const UNAUTHORIZED: (&str, [ErrorCode; 2]) = ("unauthorized", [ErrorCode::MissingApiKey, ErrorCode::InvalidApiKey]);
/// Codes of every operation: the store and the service itself.
const EVERYWHERE: [ErrorCode; 4] = [
    ErrorCode::MethodNotAllowed,
    ErrorCode::RateLimitExceeded,
    ErrorCode::InternalError,
    ErrorCode::ServiceUnavailable,
];

/// The codes of errors, a closed list.
pub struct Code;

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        let names = ErrorCode::ALL.iter().map(|code| code.name());
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build().into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        "ErrorCode".into()
    }
}

/// Returns the codes of a route by status: its own, and those of its access and its body.
pub fn by_status(route: &Route, own: &[ErrorCode]) -> BTreeMap<String, Vec<ErrorCode>> {
    let by_access: &[ErrorCode] = match route.access {
        Access::Open | Access::SecretPath | Access::AnyKey => &[],
        Access::Scoped(_) => &[ErrorCode::InsufficientScope],
    };
    let by_body: &[ErrorCode] = match route.body {
        BodyRule::Unread | BodyRule::Callback => &[],
        BodyRule::Json => &[ErrorCode::ValidationError, ErrorCode::PayloadTooLarge, ErrorCode::UnsupportedMediaType],
    };
    let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
    if route.pattern == "/v1/charges" {
        by_status.extend(DECLARED.map(|status| (status.to_owned(), Vec::new())));
    }
    // In the order of the table, each once.
    for code in ErrorCode::ALL {
        if [own, by_access, by_body, &UNAUTHORIZED.1, &EVERYWHERE].into_iter().flatten().any(|named| named == code) {
            by_status.entry(code.status().as_u16().to_string()).or_default().push(*code);
        }
    }
    by_status
}

/// Returns the response with these codes: a reference if several operations share it.
pub fn failure(status: &str, codes: &[ErrorCode], is_kept: bool) -> RefOr<Response> {
    match codes {
        [code] if !is_kept => Ref::from_response_name(code.name()).into(),
        codes if *codes == UNAUTHORIZED.1 => Ref::from_response_name(UNAUTHORIZED.0).into(),
        codes => described(status, codes, is_kept).into(),
    }
}

/// Returns the responses that operations refer to, by name.
pub fn shared() -> impl Iterator<Item = (&'static str, Response)> {
    let (name, codes) = UNAUTHORIZED;
    let single = ErrorCode::ALL.iter().map(|code| (code.name(), described(code.status().as_str(), &[*code], false)));
    single.chain([(name, described("401", &codes, false))])
}

/// Returns an example of each code's envelope, by the code's name.
pub fn examples() -> BTreeMap<String, RefOr<Example>> {
    let each = ErrorCode::ALL.iter().map(|code| {
        let example = ExampleBuilder::new().summary(code.message()).value(examples::failure(*code)).build();
        (code.name().to_owned(), RefOr::T(example))
    });
    each.collect()
}

fn described(status: &str, codes: &[ErrorCode], is_kept: bool) -> Response {
    let meanings: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name(), code.message())).collect();
    let description = if meanings.is_empty() { NOT_ANSWERED.to_owned() } else { meanings.join("\n\n") };
    let references =
        codes.iter().map(|code| (code.name(), RefOr::Ref(Ref::new(format!("#/components/examples/{}", code.name())))));
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).examples_from_iter(references).build();
    let headers: &[&str] = match status {
        "405" => &["Allow"],
        "409" | "429" | "502" | "503" => &["Retry-After"],
        _ if is_kept => &["idempotent-replayed"],
        _ => &[],
    };
    with_headers(ResponseBuilder::new().description(description).content(JSON, content).build(), headers)
}

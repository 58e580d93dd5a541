//! The failures of each operation, by status.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

use super::{JSON, add_headers, examples};
use crate::error::{ErrorCode, code};

/// The statuses that the contract declares for the operations on `/charges`.
pub const DECLARED: [&str; 10] = ["400", "401", "403", "404", "409", "422", "429", "500", "502", "503"];
/// The description of a declared status that this version does not return.
const NOT_RETURNED: &str = "Declared for the operations on charges; this version does not return it here.";
/// The name of the response 401 that all operations share, and its codes. Every operation can return them.
const UNAUTHORIZED: (&str, [ErrorCode; 2]) = ("unauthorized", [ErrorCode::MissingApiKey, ErrorCode::InvalidApiKey]);
/// The codes other than those of 401 that every operation can return.
const EVERYWHERE: [ErrorCode; 5] = [
    ErrorCode::InsufficientScope,
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

/// A list of error codes as a type: a type of [`code`], or a tuple of lists.
pub trait Codes {
    /// Returns the codes.
    fn codes() -> Vec<ErrorCode>;
}

macro_rules! tuples {
    ($($first:ident $(, $rest:ident)*;)+) => {$(
        impl<$first: Codes, $($rest: Codes),*> Codes for ($first, $($rest,)*) {
            fn codes() -> Vec<ErrorCode> {
                [$first::codes(), $($rest::codes()),*].concat()
            }
        }
    )+};
}

tuples! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
    A, B, C, D, E, F, G;
    A, B, C, D, E, F, G, H;
    A, B, C, D, E, F, G, H, I;
}

/// The errors of every operation with a JSON body.
pub type OfBody = (code::ValidationError, code::RequestTimeout, code::PayloadTooLarge, code::UnsupportedMediaType);

/// The errors of every creation under an idempotency key.
pub type OfCreation = (
    OfBody,
    (code::IdempotencyKeyRequired, code::InvalidIdempotencyKey, code::AccountSuspended),
    (code::ExternalIdConflict, code::IdempotencyConflict),
    (code::IdempotencyKeyInProgress, code::ExternalIdInProgress, code::AcquirerUnavailable),
);

/// The errors of a read that names one webhook endpoint or one crypto quote.
pub type OfRead = (code::ValidationError, code::NotFound);

/// The errors of every change of one webhook endpoint.
pub type OfEndpointChange = (code::ValidationError, code::AccountSuspended, code::NotFound);

/// The errors of every action that the state of the webhook endpoint can forbid.
pub type OfEndpointAction = (OfEndpointChange, code::InvalidState);

/// The responses of an operation that fails with one of the codes, or with a code of every operation.
#[derive(Debug)]
pub struct Errors<T>(PhantomData<T>);

impl<T: Codes> IntoResponses for Errors<T> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let own = T::codes();
        // An operation with an Idempotency-Key stores its rejection for insufficient balance, and returns the stored response to a repeat.
        let is_creation = own.contains(&ErrorCode::IdempotencyKeyRequired);
        let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
        // The codes are listed in the order of `ErrorCode::ALL`, each of them once.
        for code in ErrorCode::ALL {
            if [own.as_slice(), &UNAUTHORIZED.1, &EVERYWHERE].into_iter().flatten().any(|named| named == code) {
                by_status.entry(code.status().as_u16().to_string()).or_default().push(*code);
            }
        }
        let each = by_status.into_iter().map(|(status, codes)| {
            let is_stored = is_creation && codes.contains(&ErrorCode::InsufficientBalance);
            let response = failure(&status, &codes, is_stored);
            (status, response)
        });
        each.collect()
    }
}

/// Adds the statuses that the contract declares for `/charges` and this version does not return.
pub fn declare(responses: &mut BTreeMap<String, RefOr<Response>>) {
    for status in DECLARED {
        responses.entry(status.to_owned()).or_insert_with(|| failure(status, &[], false));
    }
}

/// Returns the response with these codes. The result is a reference for a single code and for 401, because several operations share these
/// responses. With `is_stored`, the response is stored under the Idempotency-Key, and a repeat returns it with `idempotent-replayed`. The
/// shared response does not declare this header, so the result is then not a reference.
fn failure(status: &str, codes: &[ErrorCode], is_stored: bool) -> RefOr<Response> {
    match codes {
        [code] if !is_stored => Ref::from_response_name(code.name()).into(),
        codes if *codes == UNAUTHORIZED.1 => Ref::from_response_name(UNAUTHORIZED.0).into(),
        codes => described(status, codes, is_stored).into(),
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

fn described(status: &str, codes: &[ErrorCode], is_stored: bool) -> Response {
    let meanings: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name(), code.message())).collect();
    let description = if meanings.is_empty() { NOT_RETURNED.to_owned() } else { meanings.join("\n\n") };
    let references =
        codes.iter().map(|code| (code.name(), RefOr::Ref(Ref::new(format!("#/components/examples/{}", code.name())))));
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).examples_from_iter(references).build();
    let headers: &[&str] = match status {
        "405" => &["Allow"],
        "409" | "429" | "502" | "503" => &["Retry-After"],
        _ if is_stored => &["idempotent-replayed"],
        _ => &[],
    };
    let mut response = ResponseBuilder::new().description(description).content(JSON, content).build();
    add_headers(&mut response, headers);
    response
}

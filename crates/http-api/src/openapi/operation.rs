//! The description of an operation in the `OpenAPI` document, beyond the facts of its route.

mod parameters;

use serde_json::Value;
use utoipa::openapi::path::Parameter;

pub use parameters::{after_sequence, created, idempotency_key, in_path, paging, word};

use crate::error::ErrorCode;

/// The type of nearly every body.
pub const JSON: &str = "application/json";

/// The errors of every read of one webhook endpoint.
pub const READS: &[ErrorCode] = &[ErrorCode::ValidationError, ErrorCode::NotFound];

/// The errors of every change of one webhook endpoint.
pub const WRITES: &[ErrorCode] = &[ErrorCode::ValidationError, ErrorCode::AccountSuspended, ErrorCode::NotFound];

/// The errors of every action that the state of the webhook endpoint can forbid.
pub const ACTS: &[ErrorCode] =
    &[ErrorCode::ValidationError, ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState];

/// The description of an operation.
pub struct Description {
    /// The operation's name in generated clients.
    pub id: &'static str,
    /// Its chapter.
    pub tag: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// More.
    pub details: &'static str,
    /// Parameters beyond those of the path.
    pub parameters: Vec<Parameter>,
    /// The schema and an example of its body.
    pub request: Option<(&'static str, Option<Value>)>,
    /// The successful responses.
    pub answers: Vec<Success>,
    /// `true` if the body may be omitted.
    pub body_is_optional: bool,
    /// The errors beyond those of every operation.
    pub errors: &'static [ErrorCode],
}

/// A successful response.
pub struct Success {
    /// The status.
    pub status: &'static str,
    /// The condition of this response.
    pub when: &'static str,
    /// The forms of the body; empty without a body.
    pub bodies: Vec<Body>,
}

/// A form in which a body is sent.
pub struct Body {
    /// Its type.
    pub content_type: &'static str,
    /// The name of its schema.
    pub schema: Option<&'static str>,
    /// An example.
    pub example: Option<Value>,
}

/// Returns the response with a JSON body.
#[must_use]
pub fn json(status: &'static str, when: &'static str, schema: &'static str, example: Option<Value>) -> Success {
    Success { status, when, bodies: vec![Body { content_type: JSON, schema: Some(schema), example }] }
}

/// Returns the response without a body.
#[must_use]
pub fn empty(status: &'static str, when: &'static str) -> Success {
    Success { status, when, bodies: Vec::new() }
}

/// Returns the content of a list as a file.
#[must_use]
pub fn csv(example: Option<Value>) -> Body {
    Body { content_type: "text/csv", schema: None, example }
}

/// Returns a description without parameters, request body and errors of its own.
#[must_use]
pub fn plain(
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    details: &'static str,
    answers: Vec<Success>,
) -> Description {
    Description {
        id,
        tag,
        summary,
        details,
        parameters: Vec::new(),
        request: None,
        body_is_optional: false,
        answers,
        errors: &[],
    }
}

/// Returns the response of a list that is a file too.
#[must_use]
pub fn with_csv(
    when: &'static str,
    schema: &'static str,
    page: Option<serde_json::Value>,
    file: Option<serde_json::Value>,
) -> Success {
    let page = json("200", when, schema, page);
    Success { bodies: page.bodies.into_iter().chain([csv(file)]).collect(), ..page }
}

//! What is said of each endpoint in the `OpenAPI` document, beyond what the table of routes knows.

use serde_json::Value;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use super::examples;
use crate::http::error::ErrorCode;
use crate::http::routes::Endpoint;

/// The type of nearly every body.
pub const JSON: &str = "application/json";

/// What is said of an endpoint.
pub struct Description {
    /// Names it in generated clients.
    pub id: &'static str,
    /// Its chapter.
    pub tag: &'static str,
    /// One line.
    pub summary: &'static str,
    /// More.
    pub details: &'static str,
    /// Parameters beyond those of the path.
    pub parameters: Vec<Parameter>,
    /// The schema and an example of its body.
    pub request: Option<(&'static str, Option<Value>)>,
    /// Its answers when all is well.
    pub answers: Vec<Success>,
    /// What goes wrong beyond what goes wrong everywhere.
    pub errors: &'static [ErrorCode],
}

/// An answer when all is well.
pub struct Success {
    /// The status.
    pub status: &'static str,
    /// When it is given.
    pub when: &'static str,
    /// Type, schema and example of the body.
    pub body: Option<(&'static str, Option<&'static str>, Option<Value>)>,
}

fn json(status: &'static str, when: &'static str, schema: &'static str, example: Option<Value>) -> Success {
    Success { status, when, body: Some((JSON, Some(schema), example)) }
}

fn file(content_type: &'static str, when: &'static str) -> Success {
    Success { status: "200", when, body: Some((content_type, None, None)) }
}

fn parameter(name: &str, place: ParameterIn, required: bool, what: &str, schema: Object) -> Parameter {
    let required = if required { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(what))
        .schema(Some(schema))
        .build()
}

/// The parameter of a path.
pub fn path_parameter(name: &str) -> Parameter {
    let what = match name {
        "id" => "A charge's id (`chg_…`), or `ext:` and the caller's external_id, percent-encoded.",
        "acquirer" => "The configured name of the acquirer.",
        "token" => "The secret part of the acquirer's callback address.",
        "file" => "A file of the documentation pages.",
        _ => "Anything.",
    };
    parameter(name, ParameterIn::Path, true, what, ObjectBuilder::new().schema_type(Type::String).build())
}

/// What is said of `endpoint`.
#[expect(clippy::too_many_lines, reason = "one table, a paragraph per endpoint")]
pub fn describe(endpoint: Endpoint) -> Description {
    let plain = |id, tag, summary, details, answers| Description {
        id,
        tag,
        summary,
        details,
        parameters: Vec::new(),
        request: None,
        answers,
        errors: &[],
    };
    match endpoint {
        Endpoint::ListCharges => Description {
            parameters: vec![
                parameter("limit", ParameterIn::Query, false, "Rows of the page.", limit_schema()),
                parameter(
                    "starting_after",
                    ParameterIn::Query,
                    false,
                    "Id of the last row of the previous page.",
                    text_schema(),
                ),
            ],
            errors: &[ErrorCode::ValidationError],
            ..plain(
                "listCharges",
                "charges",
                "List charges",
                "Newest first, with cursor pagination.",
                vec![json("200", "A page of charges.", "ChargePage", examples::charges())],
            )
        },
        Endpoint::CreateCharge => Description {
            parameters: vec![parameter(
                "Idempotency-Key",
                ParameterIn::Header,
                true,
                "8 to 255 visible ASCII characters. Repeating a request with the same key and body gives the original answer.",
                key_schema(),
            )],
            request: Some((
                "NewCharge",
                examples::literal(
                    r#"{"amount":10.50,"description":"Order 1042","external_id":"order-1042","expires_in":3600}"#,
                ),
            )),
            errors: &[
                ErrorCode::IdempotencyKeyRequired,
                ErrorCode::InvalidIdempotencyKey,
                ErrorCode::PostbackUrlNotRegistered,
                ErrorCode::AccountSuspended,
                ErrorCode::KycNotApproved,
                ErrorCode::FeatureDisabled,
                ErrorCode::SplitDisabled,
                ErrorCode::ExternalIdConflict,
                ErrorCode::IdempotencyConflict,
                ErrorCode::IdempotencyKeyInProgress,
                ErrorCode::ExternalIdInProgress,
                ErrorCode::SplitNotAvailable,
                ErrorCode::TransactionLimitExceeded,
                ErrorCode::AcquirerUnavailable,
            ],
            ..plain(
                "createCharge",
                "charges",
                "Create a Pix charge",
                "A repeated Idempotency-Key gets the first answer with the header `idempotent-replayed: true`. An external_id that exists with the same amount gets the original charge with 200.",
                vec![
                    json("201", "The charge was created.", "Charge", examples::pending()),
                    json("200", "A charge with this external_id and amount existed.", "Charge", examples::pending()),
                ],
            )
        },
        Endpoint::GetCharge => Description {
            errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
            ..plain(
                "getCharge",
                "charges",
                "Fetch a charge",
                "A pending charge is refreshed from the acquirer first.",
                vec![json("200", "The charge.", "Charge", examples::paid())],
            )
        },
        Endpoint::CancelCharge => Description {
            errors: &[
                ErrorCode::AccountSuspended,
                ErrorCode::NotFound,
                ErrorCode::ExternalIdInProgress,
                ErrorCode::InvalidState,
                ErrorCode::AcquirerUnavailable,
            ],
            ..plain(
                "cancelCharge",
                "charges",
                "Cancel a charge",
                "Needs no body and no Idempotency-Key; repeatable.",
                vec![json("200", "The cancelled charge.", "Charge", examples::paid().and_then(cancelled))],
            )
        },
        Endpoint::GetBalance => Description {
            errors: &[ErrorCode::ValidationError],
            ..plain(
                "getBalance",
                "balance",
                "Read the balance",
                "In BRL.",
                vec![json("200", "The balance.", "Balance", examples::balances())],
            )
        },
        Endpoint::Reserved => Description {
            errors: &[ErrorCode::NotImplemented],
            ..plain(
                "reserved",
                "reserved",
                "Reserved capability",
                "Boleto and card are reserved: whatever the method, here and on every path below, the answer is 501.",
                Vec::new(),
            )
        },
        Endpoint::SandboxPay => Description {
            request: Some(("SandboxPayment", examples::literal(r#"{"amount":10.50}"#))),
            errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
            ..plain(
                "sandboxPayCharge",
                "sandbox",
                "Pay a charge",
                "Only with the built-in sandbox as upstream. A charge that is paid, expired or cancelled gets a further payment.",
                vec![json("200", "The charge after it.", "Charge", examples::paid())],
            )
        },
        Endpoint::SandboxExpire => Description {
            errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
            ..plain(
                "sandboxExpireCharge",
                "sandbox",
                "End a charge's time",
                "Only with the built-in sandbox as upstream.",
                vec![json("200", "The charge after it.", "Charge", examples::paid().and_then(expired))],
            )
        },
        Endpoint::SandboxFaults => Description {
            errors: &[ErrorCode::NotFound],
            request: Some(("NewFaults", examples::literal(r#"{"mode":"slow","latency_ms":2000}"#))),
            ..plain(
                "sandboxSetFaults",
                "sandbox",
                "Make things go wrong upstream",
                "Only with the built-in sandbox as upstream.",
                vec![json(
                    "200",
                    "What is in force.",
                    "Faults",
                    examples::literal(r#"{"acquirer":"sandbox","mode":"slow","latency_ms":2000}"#),
                )],
            )
        },
        Endpoint::SandboxClock => Description {
            errors: &[ErrorCode::NotFound],
            request: Some(("Clock", examples::literal(r#"{"offset_s":3600}"#))),
            ..plain(
                "sandboxSetClock",
                "sandbox",
                "Move the clocks of service and sandbox",
                "Only with the built-in sandbox as upstream.",
                vec![json("200", "What is in force.", "Clock", examples::literal(r#"{"offset_s":3600}"#))],
            )
        },
        Endpoint::Health => plain(
            "health",
            "operations",
            "Whether the process lives",
            "Also on the admin address.",
            vec![json("200", "It does.", "Health", examples::literal(r#"{"status":"ok"}"#))],
        ),
        Endpoint::Ready => plain(
            "ready",
            "operations",
            "Whether requests should be sent here",
            "503 while the store does not answer and while the process is about to stop. Also on the admin address.",
            vec![json("200", "They should.", "Health", examples::literal(r#"{"status":"ok"}"#))],
        ),
        Endpoint::Metrics => plain(
            "metrics",
            "operations",
            "Numbers about the service, on the admin address only",
            "Served on `admin_listen` and not on this address, where it is 404.",
            vec![file("text/plain", "The text format of Prometheus.")],
        ),
        Endpoint::OpenApi => {
            plain("openApi", "operations", "This document", "OpenAPI 3.1.", vec![file(JSON, "The document.")])
        }
        Endpoint::DocsRedirect => plain(
            "docs",
            "operations",
            "To the documentation pages",
            "",
            vec![Success { status: "308", when: "They are at `/docs/`.", body: None }],
        ),
        Endpoint::Docs => Description {
            errors: &[ErrorCode::NotFound],
            ..plain(
                "docsFile",
                "operations",
                "The documentation pages",
                "",
                vec![file("text/html", "A file of the pages.")],
            )
        },
        Endpoint::Callback => Description {
            errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::PayloadTooLarge],
            ..plain(
                "acquirerCallback",
                "callbacks",
                "What acquirers call",
                "A hint that is kept; the truth is read from the acquirer.",
                vec![Success { status: "200", when: "It is kept.", body: None }],
            )
        },
    }
}

fn limit_schema() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(200))
        .default(Some(Value::from(50)))
        .build()
}

fn text_schema() -> Object {
    ObjectBuilder::new().schema_type(Type::String).build()
}

fn key_schema() -> Object {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(8)).max_length(Some(255)).build()
}

fn cancelled(paid: Value) -> Option<Value> {
    unpaid(paid, "cancelled")
}

fn expired(paid: Value) -> Option<Value> {
    unpaid(paid, "expired")
}

fn unpaid(mut charge: Value, status: &str) -> Option<Value> {
    *charge.pointer_mut("/status")? = Value::from(status);
    *charge.pointer_mut("/end_to_end_id")? = Value::Null;
    *charge.pointer_mut("/paid_at")? = Value::Null;
    Some(charge)
}

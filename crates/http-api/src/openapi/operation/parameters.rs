//! Parameters that several endpoints share.

use serde_json::Value;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

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

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Returns the parameter of a path.
#[must_use]
pub fn in_path(pattern: &str, name: &str) -> Parameter {
    let what = match name {
        "id" if pattern.contains("/refunds/") => {
            "A refund's id (`rfd_…`), or `ext:` and its external_id, percent-encoded."
        }
        "id" if pattern.contains("/payouts/") => {
            "A payout's id (`pyt_…`), or `ext:` and the caller's external_id, percent-encoded."
        }
        "id" if pattern.contains("/infractions/") => "An infraction's id (`inf_…`).",
        "id" if pattern.contains("/webhook-endpoints/") => "An endpoint's id (`whe_…`).",
        "id" if pattern.contains("/events/") => "An event's id (`evt_…`).",
        "delivery_id" => "A delivery's id (`dlv_…`).",
        "id" if pattern.contains("/transactions/") => "An entry's id (`txn_in_…` or `txn_out_…`).",
        "id" => "A charge's id (`chg_…`), or `ext:` and the caller's external_id, percent-encoded.",
        _ => "Anything.",
    };
    parameter(name, ParameterIn::Path, true, what, text().build())
}

/// Returns `limit` and `starting_after`.
#[must_use]
pub fn paging() -> Vec<Parameter> {
    let limit = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(200));
    let limit = limit.default(Some(Value::from(50))).build();
    let after = "Id of the last row of the previous page.";
    vec![
        parameter("limit", ParameterIn::Query, false, "Rows of the page.", limit),
        parameter("starting_after", ParameterIn::Query, false, after, text().build()),
    ]
}

/// Returns `created_from` and `created_to`.
#[must_use]
pub fn created() -> Vec<Parameter> {
    let day = |what: &str| format!("{what}: a day of São Paulo as `YYYY-MM-DD`, or an instant (RFC 3339); inclusive.");
    vec![
        parameter("created_from", ParameterIn::Query, false, &day("From when on"), text().build()),
        parameter("created_to", ParameterIn::Query, false, &day("Until when"), text().build()),
    ]
}

/// Returns a filter with one of these values.
pub fn word(name: &str, what: &str, words: impl IntoIterator<Item = &'static str>) -> Parameter {
    let words: Vec<&str> = words.into_iter().collect();
    parameter(name, ParameterIn::Query, false, what, text().enum_values(Some(words)).build())
}

/// Returns `after_sequence`.
#[must_use]
pub fn after_sequence() -> Parameter {
    let what =
        "Only events after that number of their `sequence`, the oldest first; 0 begins with the first that is kept.";
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build();
    parameter("after_sequence", ParameterIn::Query, false, what, schema)
}

/// Returns `Idempotency-Key`.
#[must_use]
pub fn idempotency_key() -> Parameter {
    let what =
        "8 to 255 visible ASCII characters. Repeating a request with the same key and body gives the original answer.";
    let schema = text().min_length(Some(8)).max_length(Some(255)).build();
    parameter("Idempotency-Key", ParameterIn::Header, true, what, schema)
}

//! The parameters of operations in the `OpenAPI` document. Each type that reads parameters implements `IntoParams` with these functions.

use serde_json::Value;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

fn parameter(name: &str, place: ParameterIn, required: bool, description: &str, schema: Object) -> Parameter {
    let required = if required { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Returns a parameter of a path.
#[must_use]
pub fn in_path(name: &str, description: &str) -> Vec<Parameter> {
    vec![parameter(name, ParameterIn::Path, true, description, text().build())]
}

/// Returns `limit` and `starting_after`.
#[must_use]
pub fn paging() -> Vec<Parameter> {
    let limit = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(200));
    let limit = limit.default(Some(Value::from(50))).build();
    let after = "Id of the last row of the previous page.";
    vec![
        parameter("limit", ParameterIn::Query, false, "The number of rows in the page.", limit),
        parameter("starting_after", ParameterIn::Query, false, after, text().build()),
    ]
}

/// Returns `created_from` and `created_to`.
#[must_use]
pub fn created() -> Vec<Parameter> {
    let day =
        |bound: &str| format!("{bound}: a day of São Paulo as `YYYY-MM-DD`, or an instant (RFC 3339); inclusive.");
    vec![
        parameter("created_from", ParameterIn::Query, false, &day("Start of the period"), text().build()),
        parameter("created_to", ParameterIn::Query, false, &day("End of the period"), text().build()),
    ]
}

/// Returns a filter whose value is one of `words`.
pub fn one_of(name: &str, description: &str, words: impl IntoIterator<Item = &'static str>) -> Parameter {
    let words: Vec<&str> = words.into_iter().collect();
    parameter(name, ParameterIn::Query, false, description, text().enum_values(Some(words)).build())
}

/// Returns `after_sequence`.
#[must_use]
pub fn after_sequence() -> Parameter {
    let description =
        "Only events whose `sequence` is above this number, oldest first. 0 begins with the oldest event that is kept.";
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build();
    parameter("after_sequence", ParameterIn::Query, false, description, schema)
}

/// Returns `Idempotency-Key`.
#[must_use]
pub fn idempotency_key() -> Parameter {
    let description =
        "8 to 255 visible ASCII characters. A repeat with the same key and body returns the first response.";
    let schema = text().min_length(Some(8)).max_length(Some(255)).build();
    parameter("Idempotency-Key", ParameterIn::Header, true, description, schema)
}

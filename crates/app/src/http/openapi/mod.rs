//! The `OpenAPI` document, made from the table of routes, the table of errors and the shapes of bodies.

mod examples;
mod failures;
mod operations;
pub mod schemas;

use std::collections::BTreeMap;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, PathItem, Paths, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{
    AdditionalProperties, ComponentsBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type,
};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required};

use self::failures::{by_status, failure};
use self::operations::{Body, Description, JSON, Success, describe, in_path};
use super::error::ErrorCode;
use super::routes::{Access, Endpoint, ROUTES, Route, Verb};

/// The version of the interface.
const VERSION: &str = "1.1.0";
/// The chapters.
const TAGS: [(&str, &str); 8] = [
    ("charges", "Pix cash-in, and refunds of it."),
    ("payouts", "Pix cash-out."),
    ("transactions", "Cash-in and cash-out as one timeline."),
    ("balance", "The account's money, and every movement of it."),
    ("sandbox", "The payer's side, with the built-in sandbox as upstream; elsewhere these answer 404."),
    ("operations", "For those who run the service."),
    ("callbacks", "For acquirers."),
    ("reserved", "Boleto and card: every method on these paths and below answers 501."),
];
/// Names of the two ways to send a key.
const BEARER: &str = "bearer";
const X_API_KEY: &str = "x-api-key";
/// Bodies of requests: what they do not name is refused.
const STRICT: [&str; 7] = ["NewCharge", "SplitItem", "NewPayout", "NewRefund", "SandboxPayment", "NewFaults", "Clock"];

/// The document as JSON, the same bytes every time.
///
/// # Errors
/// When it cannot be written, which a test rules out.
pub fn document() -> Result<String, serde_json::Error> {
    build().to_pretty_json()
}

fn build() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Cais API")
        .version(VERSION)
        .description(Some("Pix payments: charges, payouts, refunds, balance and what belongs to them. Amounts are JSON numbers in BRL; timestamps are RFC 3339 in UTC."))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let mut components = ComponentsBuilder::new()
        .schema_from::<schemas::Charge>()
        .schema_from::<schemas::ChargePage>()
        .schema_from::<schemas::NewCharge>()
        .schema_from::<schemas::Balance>()
        .schema_from::<schemas::Payout>()
        .schema_from::<schemas::PayoutPage>()
        .schema_from::<schemas::NewPayout>()
        .schema_from::<schemas::PayoutStatus>()
        .schema_from::<schemas::PayoutPix>()
        .schema_from::<schemas::PixKeyType>()
        .schema_from::<schemas::Refund>()
        .schema_from::<schemas::RefundPage>()
        .schema_from::<schemas::NewRefund>()
        .schema_from::<schemas::RefundStatus>()
        .schema_from::<schemas::Entry>()
        .schema_from::<schemas::EntryPage>()
        .schema_from::<schemas::EntryKind>()
        .schema_from::<schemas::Bucket>()
        .schema_from::<schemas::Transaction>()
        .schema_from::<schemas::TransactionPage>()
        .schema_from::<schemas::TransactionType>()
        .schema_from::<schemas::TransactionStatus>()
        .schema_from::<schemas::Method>()
        .schema_from::<schemas::Origin>()
        .schema_from::<schemas::Error>()
        .schema_from::<schemas::ChargeStatus>()
        .schema_from::<schemas::ChargePix>()
        .schema_from::<schemas::SplitItem>()
        .schema_from::<schemas::Issue>()
        .schema_from::<schemas::ErrorDetail>()
        .schema_from::<schemas::FaultMode>()
        .schema_from::<schemas::Health>()
        .schema_from::<schemas::SandboxPayment>()
        .schema_from::<schemas::NewFaults>()
        .schema_from::<schemas::Faults>()
        .schema_from::<schemas::Clock>()
        .security_scheme(
            BEARER,
            SecurityScheme::Http(
                HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("key_<prefix>_<secret>").build(),
            ),
        )
        .security_scheme(X_API_KEY, SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(X_API_KEY))))
        .build();
    for name in STRICT {
        if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
    components.schemas.values_mut().for_each(without_binary_formats);
    let tags = TAGS.map(|(name, what)| TagBuilder::new().name(name).description(Some(what)).build());
    OpenApiBuilder::new().info(info).paths(paths()).components(Some(components)).tags(Some(tags)).build()
}

/// Amounts are decimal numbers: `double` would tell generated clients to round them in binary.
fn without_binary_formats(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    if object.format == Some(SchemaFormat::KnownFormat(KnownFormat::Double)) {
        object.format = None;
    }
    object.properties.values_mut().for_each(without_binary_formats);
}

fn paths() -> Paths {
    let mut items: BTreeMap<String, PathItem> = BTreeMap::new();
    for route in ROUTES {
        let item = PathItem::new(method_of(route), operation(route));
        match items.get_mut(&listed(route.pattern)) {
            Some(known) => known.merge_operations(item),
            None => {
                items.insert(listed(route.pattern), item);
            }
        }
    }
    items.into_iter().fold(PathsBuilder::new(), |paths, (path, item)| paths.path(path, item)).build()
}

/// A pattern as `OpenAPI` writes it.
fn listed(pattern: &str) -> String {
    pattern.replace("{*", "{")
}

/// The method under which a route is listed: one that answers any is listed once, so that it does not drown the rest.
fn method_of(route: &Route) -> HttpMethod {
    match route.verb {
        Verb::Get => HttpMethod::Get,
        Verb::Post | Verb::Any => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
    }
}

fn operation(route: &Route) -> Operation {
    let Description { id, tag, summary, details, parameters, request, answers, errors } = describe(route.endpoint);
    let in_path = route
        .pattern
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| in_path(route.pattern, name.trim_start_matches('*')));
    let mut operation = OperationBuilder::new()
        .tag(tag)
        .operation_id(Some(format!("{id}{}", suffix(route))))
        .summary(Some(summary))
        .description(Some(details_of(route, details)).filter(|text| !text.is_empty()))
        .parameters(Some(in_path.chain(parameters)));
    if let Some((schema, example)) = request {
        // Where nothing is required, the body can be left out altogether.
        let optional = matches!(route.endpoint, Endpoint::SandboxPay);
        let required = if optional { Required::False } else { Required::True };
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(example).build();
        operation = operation
            .request_body(Some(RequestBodyBuilder::new().content(JSON, content).required(Some(required)).build()));
    }
    let has_key = matches!(route.access, Access::AnyKey | Access::Scoped(_));
    let is_creation =
        matches!(route.endpoint, Endpoint::CreateCharge | Endpoint::CreatePayout | Endpoint::CreateRefund);
    for answer in answers {
        let status = answer.status;
        let response = replayed(success(answer, has_key), is_creation);
        operation = operation.response(status, response.build());
    }
    for (status, codes) in by_status(route, errors) {
        // What was judged once by the balance is answered the same way for ever.
        let is_kept = is_creation && codes.contains(&ErrorCode::InsufficientBalance);
        let response = replayed(failure(&status, &codes, has_key), is_kept);
        operation = operation.response(status, response.build());
    }
    if has_key {
        let none: [&str; 0] = [];
        operation = operation
            .security(SecurityRequirement::new(BEARER, none))
            .security(SecurityRequirement::new(X_API_KEY, none));
    }
    operation.build()
}

/// Tells apart operations of endpoints that have several paths.
fn suffix(route: &Route) -> String {
    if !matches!(route.endpoint, Endpoint::Reserved | Endpoint::Callback) {
        return String::new();
    }
    let words = route.pattern.split(['/', '{', '}', '*']).filter(|word| !word.is_empty() && *word != "v1");
    words.fold(String::new(), |all, word| all + "_" + word)
}

fn details_of(route: &Route, details: &str) -> String {
    match route.access {
        Access::Scoped(scope) => format!("{details} Scope: `{scope}`."),
        Access::AnyKey => format!("{details} Scope: none, any key will do."),
        Access::Open | Access::SecretPath => details.to_owned(),
    }
}

fn success(answer: Success, has_key: bool) -> ResponseBuilder {
    let mut response = with_headers(ResponseBuilder::new().description(answer.when), has_key);
    for Body { content_type, schema, example } in answer.bodies {
        let content = ContentBuilder::new().schema(schema.map(Ref::from_schema_name)).example(example);
        response = response.content(content_type, content.build());
    }
    response
}

/// The header of an answer that is kept for repeats.
fn replayed(response: ResponseBuilder, is_kept: bool) -> ResponseBuilder {
    if !is_kept {
        return response;
    }
    let what = "`true` when this repeats the first answer to the same Idempotency-Key; else absent.";
    response.header("idempotent-replayed", header(what, Type::String))
}

/// The headers of every answer, and of every answer to a caller who is known.
fn with_headers(response: ResponseBuilder, is_known: bool) -> ResponseBuilder {
    let response = response.header("x-request-id", header("Names the request.", Type::String));
    if !is_known {
        return response;
    }
    response
        .header("x-ratelimit-limit", header("Requests per minute and key.", Type::Integer))
        .header("x-ratelimit-remaining", header("Requests left in this window.", Type::Integer))
        .header("x-ratelimit-reset", header("End of the window, Unix seconds.", Type::Integer))
}

fn header(what: &str, schema_type: Type) -> utoipa::openapi::header::Header {
    HeaderBuilder::new().description(Some(what)).schema(Some(ObjectBuilder::new().schema_type(schema_type))).build()
}

#[cfg(test)]
mod tests;

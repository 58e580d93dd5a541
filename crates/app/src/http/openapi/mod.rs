//! The `OpenAPI` document, made from the table of routes, the table of errors and the shapes of bodies.

mod examples;
mod operations;
pub mod schemas;

use std::collections::BTreeMap;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, PathItem, Paths, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AdditionalProperties, ComponentsBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required};

use self::operations::{Description, JSON, Success, describe, path_parameter};
use super::error::ErrorCode;
use super::routes::{Access, BodyRule, Endpoint, ROUTES, Route, Verb};

/// The version of the interface.
const VERSION: &str = "1.1.0";
/// The chapters.
const TAGS: [(&str, &str); 6] = [
    ("charges", "Pix cash-in."),
    ("balance", "The account's money."),
    ("reserved", "Reserved capabilities."),
    ("sandbox", "The payer's side, with the built-in sandbox as upstream; elsewhere these answer 404."),
    ("operations", "For those who run the service."),
    ("callbacks", "For acquirers."),
];
/// Names of the two ways to send a key.
const BEARER: &str = "bearer";
const X_API_KEY: &str = "x-api-key";
/// Bodies of requests: what they do not name is refused.
const STRICT: [&str; 5] = ["NewCharge", "SplitItem", "SandboxPayment", "NewFaults", "Clock"];
/// Methods under which a route for any method is listed.
const ANY: [(HttpMethod, &str); 5] = [
    (HttpMethod::Get, "Get"),
    (HttpMethod::Post, "Post"),
    (HttpMethod::Put, "Put"),
    (HttpMethod::Patch, "Patch"),
    (HttpMethod::Delete, "Delete"),
];

/// The document as JSON, the same bytes every time.
///
/// # Errors
/// When it cannot be written, which a test rules out.
pub fn document() -> Result<String, serde_json::Error> {
    build().to_pretty_json()
}

fn build() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Cais")
        .version(VERSION)
        .description(Some("Pix payments: charges, balance and what belongs to them. Amounts are JSON numbers in BRL; timestamps are RFC 3339 in UTC."))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let mut components = ComponentsBuilder::new()
        .schema_from::<schemas::Charge>()
        .schema_from::<schemas::ChargePage>()
        .schema_from::<schemas::NewCharge>()
        .schema_from::<schemas::Balance>()
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
    let tags = TAGS.map(|(name, what)| TagBuilder::new().name(name).description(Some(what)).build());
    OpenApiBuilder::new().info(info).paths(paths()).components(Some(components)).tags(Some(tags)).build()
}

fn paths() -> Paths {
    let mut items: BTreeMap<String, PathItem> = BTreeMap::new();
    for route in ROUTES {
        for (method, operation) in operations_of(route) {
            let item = PathItem::new(method, operation);
            match items.get_mut(&listed(route.pattern)) {
                Some(known) => known.merge_operations(item),
                None => {
                    items.insert(listed(route.pattern), item);
                }
            }
        }
    }
    items.into_iter().fold(PathsBuilder::new(), |paths, (path, item)| paths.path(path, item)).build()
}

/// A pattern as `OpenAPI` writes it.
fn listed(pattern: &str) -> String {
    pattern.replace("{*", "{")
}

fn operations_of(route: &Route) -> Vec<(HttpMethod, Operation)> {
    let one = |method| vec![(method, operation(route, ""))];
    match route.verb {
        Verb::Get => one(HttpMethod::Get),
        Verb::Post => one(HttpMethod::Post),
        Verb::Put => one(HttpMethod::Put),
        Verb::Any => ANY.into_iter().map(|(method, word)| (method, operation(route, word))).collect(),
    }
}

fn operation(route: &Route, method_word: &str) -> Operation {
    let Description { id, tag, summary, details, parameters, request, answers, errors } = describe(route.endpoint);
    let in_path = route
        .pattern
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| path_parameter(name.trim_start_matches('*')));
    let mut operation = OperationBuilder::new()
        .tag(tag)
        .operation_id(Some(format!("{id}{method_word}{}", suffix(route))))
        .summary(Some(summary))
        .description(Some(details_of(route, details)).filter(|text| !text.is_empty()))
        .parameters(Some(in_path.chain(parameters)));
    if let Some((schema, example)) = request {
        // Only the payment in the sandbox can be left out altogether.
        let required = if route.endpoint == Endpoint::SandboxPay { Required::False } else { Required::True };
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(example).build();
        operation = operation
            .request_body(Some(RequestBodyBuilder::new().content(JSON, content).required(Some(required)).build()));
    }
    let has_key = matches!(route.access, Access::AnyKey | Access::Scoped(_));
    for answer in answers {
        operation = operation.response(answer.status, success(answer, has_key));
    }
    for (status, codes) in by_status(route, errors) {
        operation = operation.response(status, failure(&codes));
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
    match route.endpoint {
        Endpoint::Reserved | Endpoint::Callback => {
            let words = route.pattern.split(['/', '{', '}', '*']).filter(|word| !word.is_empty() && *word != "v1");
            words.fold(String::new(), |all, word| all + "_" + word)
        }
        Endpoint::ListCharges
        | Endpoint::CreateCharge
        | Endpoint::GetCharge
        | Endpoint::CancelCharge
        | Endpoint::GetBalance
        | Endpoint::SandboxPay
        | Endpoint::SandboxExpire
        | Endpoint::SandboxFaults
        | Endpoint::SandboxClock
        | Endpoint::Health
        | Endpoint::Ready
        | Endpoint::Metrics
        | Endpoint::OpenApi
        | Endpoint::DocsRedirect
        | Endpoint::Docs => String::new(),
    }
}

fn details_of(route: &Route, details: &str) -> String {
    match route.access {
        Access::Scoped(scope) => format!("{details} Scope: `{scope}`."),
        Access::Open | Access::SecretPath | Access::AnyKey => details.to_owned(),
    }
}

fn success(answer: Success, has_key: bool) -> Response {
    let mut response = ResponseBuilder::new()
        .description(answer.when)
        .header("x-request-id", header("Names the request.", Type::String));
    if has_key {
        response = response
            .header("x-ratelimit-limit", header("Requests per minute and key.", Type::Integer))
            .header("x-ratelimit-remaining", header("Requests left in this window.", Type::Integer))
            .header("x-ratelimit-reset", header("End of the window, Unix seconds.", Type::Integer));
    }
    if let Some((content_type, schema, example)) = answer.body {
        let content = ContentBuilder::new().schema(schema.map(Ref::from_schema_name)).example(example);
        response = response.content(content_type, content.build());
    }
    response.build()
}

fn header(what: &str, schema_type: Type) -> utoipa::openapi::header::Header {
    HeaderBuilder::new().description(Some(what)).schema(Some(ObjectBuilder::new().schema_type(schema_type))).build()
}

/// What can go wrong at a route, by status: what the endpoint names and what its access and body bring with them.
fn by_status(route: &Route, own: &[ErrorCode]) -> BTreeMap<String, Vec<ErrorCode>> {
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
    let everywhere: &[ErrorCode] = &[ErrorCode::InternalError, ErrorCode::ServiceUnavailable];
    let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
    // In the order of the table, each once.
    for code in ErrorCode::ALL {
        if [own, by_access, by_body, everywhere].into_iter().flatten().any(|named| named == code) {
            by_status.entry(code.status().as_u16().to_string()).or_default().push(*code);
        }
    }
    by_status
}

fn failure(codes: &[ErrorCode]) -> Response {
    let what: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.name(), code.message())).collect();
    let examples = codes.iter().map(|code| {
        let example = ExampleBuilder::new().summary(code.message()).value(examples::failure(*code)).build();
        (code.name(), example)
    });
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).examples_from_iter(examples).build();
    ResponseBuilder::new()
        .description(what.join("\n\n"))
        .header("x-request-id", header("Names the request.", Type::String))
        .content(JSON, content)
        .build()
}

#[cfg(test)]
mod tests;

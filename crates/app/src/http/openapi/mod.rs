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
use utoipa::openapi::schema::{
    AdditionalProperties, ComponentsBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type,
};
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
    ("sandbox", "The payer's side, with the built-in sandbox as upstream; elsewhere these answer 404."),
    ("operations", "For those who run the service."),
    ("callbacks", "For acquirers."),
    ("reserved", "Boleto and card: every method on these paths and below answers 501."),
];
/// What the contract declares for the operations on `/charges`, whether or not this version answers it.
const DECLARED: [&str; 10] = ["400", "401", "403", "404", "409", "422", "429", "500", "502", "503"];
/// What is said of a status that is declared and, so far, not answered.
const NOT_ANSWERED: &str = "Declared for the operations on charges; this version does not answer it here.";
/// Names of the two ways to send a key.
const BEARER: &str = "bearer";
const X_API_KEY: &str = "x-api-key";
/// Bodies of requests: what they do not name is refused.
const STRICT: [&str; 5] = ["NewCharge", "SplitItem", "SandboxPayment", "NewFaults", "Clock"];

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
        .map(|(name, _)| path_parameter(name.trim_start_matches('*')));
    let mut operation = OperationBuilder::new()
        .tag(tag)
        .operation_id(Some(format!("{id}{}", suffix(route))))
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
        let is_replayed = route.endpoint == Endpoint::CreateCharge;
        operation = operation.response(answer.status, success(answer, has_key, is_replayed));
    }
    for (status, codes) in by_status(route, errors) {
        let answer = failure(&status, &codes, has_key);
        operation = operation.response(status, answer);
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
        Access::AnyKey => format!("{details} Scope: none, any key will do."),
        Access::Open | Access::SecretPath => details.to_owned(),
    }
}

fn success(answer: Success, has_key: bool, is_replayed: bool) -> Response {
    let mut response = with_headers(ResponseBuilder::new().description(answer.when), has_key);
    if is_replayed {
        let what = "`true` when this repeats the first answer to the same Idempotency-Key; else absent.";
        response = response.header("idempotent-replayed", header(what, Type::String));
    }
    if let Some((content_type, schema, example)) = answer.body {
        let content = ContentBuilder::new().schema(schema.map(Ref::from_schema_name)).example(example);
        response = response.content(content_type, content.build());
    }
    response.build()
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
    let by_method: &[ErrorCode] = match (route.access, route.verb) {
        (Access::SecretPath, _) | (_, Verb::Any) => &[],
        (Access::Open | Access::AnyKey | Access::Scoped(_), Verb::Get | Verb::Post | Verb::Put) => {
            &[ErrorCode::MethodNotAllowed]
        }
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

fn failure(status: &str, codes: &[ErrorCode], has_key: bool) -> Response {
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
    response.content(JSON, content).build()
}

#[cfg(test)]
mod tests;

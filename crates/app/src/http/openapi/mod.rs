//! The `OpenAPI` document, made from the table of routes, the table of errors and the shapes of bodies.

mod components;
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
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, Required};

use self::components::{BEARER, X_API_KEY};
use self::failures::{by_status, failure};
use self::operations::{Body, Description, JSON, Success, describe, in_path};
use super::error::ErrorCode;
use super::routes::{Access, Endpoint, ROUTES, Route, Verb};

/// The version of the interface.
const VERSION: &str = "1.1.0";
/// The chapters.
const TAGS: [(&str, &str); 11] = [
    ("charges", "Pix cash-in, and refunds of it."),
    ("payouts", "Pix cash-out."),
    ("transactions", "Cash-in and cash-out as one timeline."),
    ("balance", "The account's money, and every movement of it."),
    ("infractions", "Disputes of received Pix (MED): what is blocked, and the account's defence."),
    ("webhooks", "Where events are sent, signed as Standard Webhooks say, and how that went."),
    (
        "events",
        "Everything that happened to the account, in its order: what webhooks carry, and whoever missed one finds it here.",
    ),
    ("sandbox", "The payer's side, with the built-in sandbox as upstream; elsewhere these answer 404."),
    ("operations", "For those who run the service."),
    ("callbacks", "For acquirers."),
    ("reserved", "Boleto and card: every method on these paths and below answers 501."),
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
        .title("Cais API")
        .version(VERSION)
        .description(Some("Pix payments: charges, payouts, refunds, balance, disputes, webhooks and what belongs to them. Amounts are JSON numbers in BRL; timestamps are RFC 3339 in UTC."))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let components = components::all();
    let tags = TAGS.map(|(name, what)| TagBuilder::new().name(name).description(Some(what)).build());
    OpenApiBuilder::new().info(info).paths(paths()).components(Some(components)).tags(Some(tags)).build()
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
        Verb::Patch => HttpMethod::Patch,
        Verb::Delete => HttpMethod::Delete,
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
        let optional = matches!(
            route.endpoint,
            Endpoint::SandboxPay | Endpoint::SandboxOpenInfraction | Endpoint::RotateWebhookSecret
        );
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

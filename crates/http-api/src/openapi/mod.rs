//! The `OpenAPI` document for merchants, generated from the routes, the error table and the schemas.

mod components;
pub mod events;
pub(crate) mod examples;
pub(crate) mod failures;
pub mod operation;
pub mod requests;

use std::collections::BTreeMap;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, PathItem, Paths, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required};

use self::components::{BEARER, X_API_KEY};
use self::failures::{by_status, failure};
use self::operation::{Body, Description, JSON, Success, in_path};
use super::error::ErrorCode;
use super::idempotency::IDEMPOTENCY_KEY;
use super::routes::{Access, ROUTES, Route, Verb};

/// The version of the interface.
const VERSION: &str = "1.1.0";
/// The introduction for readers.
const INTRODUCTION: &str = include_str!("introduction.md");
/// The chapters.
const TAGS: [(&str, &str); 8] = [
    ("charges", "Pix cash-in, and refunds of it."),
    ("payouts", "Pix cash-out."),
    ("transactions", "Cash-in and cash-out as one timeline."),
    ("balance", "The account's money, and every movement of it."),
    ("infractions", "Disputes of received Pix (MED): the blocked money and the account's defense."),
    ("webhooks", "Endpoints that receive events, signed by Standard Webhooks, and the log of deliveries."),
    ("events", "Every event of the account in order, also for those who missed a webhook."),
    ("sandbox", "The payer's side, with the built-in sandbox as acquirer; elsewhere these paths answer 404."),
];
/// The headers of a successful response.
const OF_SUCCESS: [&str; 4] = ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/// Returns the document as JSON, always with the same bytes.
///
/// # Errors
/// The document cannot be serialized, which a test rules out.
pub fn document() -> Result<String, serde_json::Error> {
    build().to_json()
}

fn build() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Cais API")
        .version(VERSION)
        .description(Some(INTRODUCTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let server = ServerBuilder::new().url("/").description(Some("The service that returned this document.")).build();
    let tags = TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build());
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
        .paths(paths())
        .webhooks(Some(events::webhooks()))
        .components(Some(components::all()))
        .tags(Some(tags))
        .build()
}

fn paths() -> Paths {
    let mut items: BTreeMap<String, PathItem> = BTreeMap::new();
    for (route, describe) in ROUTES.iter().filter_map(|route| Some((route, route.describe?))) {
        let item = PathItem::new(method_of(route), operation(route, describe()));
        match items.get_mut(route.pattern) {
            Some(known) => known.merge_operations(item),
            None => {
                items.insert(route.pattern.to_owned(), item);
            }
        }
    }
    items.into_iter().fold(PathsBuilder::new(), |paths, (path, item)| paths.path(path, item)).build()
}

/// Returns the method under which a route is listed.
fn method_of(route: &Route) -> HttpMethod {
    match route.verb {
        Verb::Get => HttpMethod::Get,
        Verb::Post | Verb::Any => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
        Verb::Patch => HttpMethod::Patch,
        Verb::Delete => HttpMethod::Delete,
    }
}

fn operation(route: &Route, description: Description) -> Operation {
    let Description { id, tag, summary, details, parameters, request, body_is_optional, answers, errors } = description;
    // Operations that move money require the key, and replay the response that is stored under it.
    let is_creation = parameters.iter().any(|parameter| parameter.name == IDEMPOTENCY_KEY);
    let in_path = route
        .pattern
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| in_path(route.pattern, name));
    let mut operation = OperationBuilder::new()
        .tag(tag)
        .operation_id(Some(id))
        .summary(Some(summary))
        .description(Some(details_of(route, details)))
        .parameters(Some(in_path.chain(parameters)));
    if let Some((schema, example)) = request {
        let required = if body_is_optional { Required::False } else { Required::True };
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(example).build();
        operation = operation
            .request_body(Some(RequestBodyBuilder::new().content(JSON, content).required(Some(required)).build()));
    }
    for answer in answers {
        operation = operation.response(answer.status, success(answer, is_creation));
    }
    for (status, codes) in by_status(route, errors) {
        // A rejection for insufficient balance is stored, and replayed under its key.
        let is_kept = is_creation && codes.contains(&ErrorCode::InsufficientBalance);
        operation = operation.response(status.as_str(), failure(&status, &codes, is_kept));
    }
    let none: [&str; 0] = [];
    operation
        .security(SecurityRequirement::new(BEARER, none))
        .security(SecurityRequirement::new(X_API_KEY, none))
        .build()
}

fn details_of(route: &Route, details: &str) -> String {
    match route.access {
        Access::Scoped(scope) => format!("{details} Scope: `{scope}`."),
        Access::AnyKey => format!("{details} Scope: none, any key will do."),
        Access::Open | Access::SecretPath => details.to_owned(),
    }
}

fn success(answer: Success, is_creation: bool) -> Response {
    let mut response = ResponseBuilder::new().description(answer.when);
    for Body { content_type, schema, example } in answer.bodies {
        let content = ContentBuilder::new().schema(schema.map(Ref::from_schema_name)).example(example);
        response = response.content(content_type, content.build());
    }
    let replayed: &[&str] = if is_creation { &["idempotent-replayed"] } else { &[] };
    with_headers(response.build(), &[&OF_SUCCESS, replayed].concat())
}

/// Adds references to shared headers.
fn with_headers(mut response: Response, names: &[&str]) -> Response {
    for name in names {
        let reference = Ref::new(format!("#/components/headers/{name}"));
        response.headers.insert((*name).to_owned(), RefOr::Ref(reference));
    }
    response
}

/// Returns the headers of responses, by name.
fn headers() -> BTreeMap<String, RefOr<Header>> {
    let each = [
        ("x-request-id", "The request's id.", Type::String),
        ("x-ratelimit-limit", "Requests per minute and key.", Type::Integer),
        ("x-ratelimit-remaining", "Requests left in this window.", Type::Integer),
        ("x-ratelimit-reset", "End of the window, Unix seconds.", Type::Integer),
        ("Retry-After", "Seconds after which a repeat makes sense, where that is known.", Type::Integer),
        ("Allow", "The methods of this path.", Type::String),
        (
            "idempotent-replayed",
            "`true` when this repeats the first response to the same Idempotency-Key; else absent.",
            Type::String,
        ),
    ];
    each.map(|(name, about, schema_type)| {
        let schema = ObjectBuilder::new().schema_type(schema_type);
        let header = HeaderBuilder::new().description(Some(about)).schema(Some(schema)).build();
        (name.to_owned(), RefOr::T(header))
    })
    .into()
}

#[cfg(test)]
mod tests;

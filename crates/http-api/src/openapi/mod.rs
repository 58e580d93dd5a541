//! The `OpenAPI` document for merchants, collected from the handlers.

mod components;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use actix_web::App;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, RefOr, Required};
use utoipa_actix_web::AppExt as _;

use self::components::{BEARER, X_API_KEY};
use super::describe::{add_headers, events, failures};
use super::fallback::Methods;
use super::idempotency::IDEMPOTENCY_KEY;
use super::routes;
use crate::resources::event::API_VERSION;

/// The description at the start of the document.
const INTRODUCTION: &str = include_str!("introduction.md");
/// The tags, in the order in which the documentation shows them.
const TAGS: [(&str, &str); 9] = [
    ("charges", "Pix cash-in, and its refunds."),
    ("payouts", "Pix cash-out."),
    ("transactions", "Cash-in and cash-out as one timeline."),
    ("balance", "The account's money, and every movement of it."),
    ("infractions", "Disputes of received Pix (MED): the blocked money and the account's defense."),
    ("crypto", "Crypto cash-in and cash-out, settled in BRL."),
    ("webhooks", "Endpoints that receive signed events (Standard Webhooks), and the log of deliveries."),
    ("events", "Every event of the account in order, also for consumers that missed a webhook."),
    ("sandbox", "Simulated payers, failures and time. These paths exist only with the built-in sandbox as acquirer."),
];
/// The headers of every successful response.
const OF_SUCCESS: [&str; 4] = ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/// Returns the document as JSON. Every call returns the same bytes.
///
/// # Errors
/// The document cannot be serialized.
pub fn document() -> Result<String, serde_json::Error> {
    build().to_json()
}

fn build() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Cais API")
        .version(API_VERSION)
        .description(Some(INTRODUCTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
        .build();
    let server = ServerBuilder::new().url("/").description(Some("The service that returned this document.")).build();
    let tags = TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build());
    let base = OpenApiBuilder::new().info(info).servers(Some([server])).tags(Some(tags)).build();
    let (_, mut document) = App::new().into_utoipa_app().openapi(base).service(routes::api(true)).split_for_parts();
    document.webhooks = Some(events::webhooks());
    let schemas = document.components.take().unwrap_or_default().schemas;
    document.components = Some(components::all(schemas));
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            complete(path, operation);
        }
    }
    document
}

/// Returns the operations of a path.
fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

/// Returns the methods of every path below `/v1`, for the header `Allow`.
#[must_use]
pub fn methods() -> &'static Methods {
    static METHODS: LazyLock<Methods> = LazyLock::new(|| {
        let each = build().paths.paths.into_iter().map(|(path, mut item)| {
            let (post, get) = (item.post.take().map(|_| "POST"), item.get.take().map(|_| "GET, HEAD"));
            let (patch, delete) = (item.patch.take().map(|_| "PATCH"), item.delete.take().map(|_| "DELETE"));
            let names: Vec<&str> =
                [post, get, patch, delete, item.put.take().map(|_| "PUT")].into_iter().flatten().collect();
            (path, names.join(", "))
        });
        Methods(each.collect())
    });
    &METHODS
}

/// Completes an operation: adds the security schemes and the headers of successful responses, and marks its body as required or optional.
/// Operations on `/v1/charges` declare every error status of the API's contract, also the statuses that this version never returns.
fn complete(path: &str, operation: &mut Operation) {
    let none: [&str; 0] = [];
    operation.security = Some(vec![SecurityRequirement::new(BEARER, none), SecurityRequirement::new(X_API_KEY, none)]);
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let is_creation = parameters
        .iter()
        .any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.name == IDEMPOTENCY_KEY));
    let replayed: &[&str] = if is_creation { &["idempotent-replayed"] } else { &[] };
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && status.starts_with('2')
        {
            add_headers(response, &OF_SUCCESS);
            add_headers(response, replayed);
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        let mut schemas = body.content.values_mut().filter_map(|content| match content {
            RefOr::T(content) => content.schema.as_mut(),
            RefOr::Ref(_) => None,
        });
        let is_optional = schemas.any(unwrap_option);
        body.required = Some(if is_optional { Required::False } else { Required::True });
    }
    if path == "/v1/charges" {
        failures::declare(&mut operation.responses.responses);
    }
}

/// Replaces the schema of an optional body by the schema of the body itself, because JSON `null` is not a valid body. Returns `true` if the
/// schema was replaced.
fn unwrap_option(schema: &mut RefOr<Schema>) -> bool {
    let RefOr::T(Schema::OneOf(one)) = schema else { return false };
    let Some(body) = one.items.iter().find(|item| matches!(item, RefOr::Ref(_))) else { return false };
    *schema = body.clone();
    true
}

/// Returns the headers of responses, by name.
fn headers() -> BTreeMap<String, RefOr<Header>> {
    let each = [
        ("x-request-id", "The request's id.", Type::String),
        ("x-ratelimit-limit", "Requests per minute that the API key may make.", Type::Integer),
        ("x-ratelimit-remaining", "Requests left in this window.", Type::Integer),
        ("x-ratelimit-reset", "End of the window, Unix seconds.", Type::Integer),
        ("Retry-After", "Seconds until a repeat can succeed, if known.", Type::Integer),
        ("Allow", "The methods of this path.", Type::String),
        (
            "idempotent-replayed",
            "`true` if this is the stored first response to the same Idempotency-Key; else absent.",
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

//! The `OpenAPI` document and the pages that show it. Nothing on them comes from another host.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use actix_web::http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use actix_web::web::Bytes;
use utoipa_swagger_ui::{Config, serve};

use super::error::{ApiError, ErrorCode};
use super::openapi;
use super::reply::Reply;

/// The pages may load only what this host serves, whatever their scripts think of.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

static DOCUMENT: LazyLock<Result<Bytes, String>> =
    LazyLock::new(|| openapi::document().map(Bytes::from).map_err(|error| error.to_string()));

static PAGES: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    // The validator's badge would be fetched from its authors' host.
    Arc::new(
        Config::from("/v1/openapi.json")
            .validator_url("none")
            .try_it_out_enabled(false)
            .display_request_duration(true)
            .doc_expansion("none"),
    )
});

/// The `OpenAPI` document.
///
/// # Errors
/// `internal_error` when it cannot be written, which a test rules out.
pub fn document() -> Result<Reply, ApiError> {
    DOCUMENT.clone().map(Reply::json).map_err(ApiError::internal)
}

/// From `/docs` to `/docs/`: the pages name their parts relative to themselves.
#[must_use]
pub fn redirect() -> Reply {
    Reply::redirect("/docs/")
}

/// A file of the documentation pages.
///
/// # Errors
/// `not_found` when there is none of that name.
pub fn page(file: &str) -> Result<Reply, ApiError> {
    let found = serve(file, Arc::clone(&PAGES)).map_err(|error| ApiError::internal(error.to_string()))?;
    let file = found.ok_or(ApiError::new(ErrorCode::NotFound))?;
    let content_type =
        HeaderValue::try_from(file.content_type).map_err(|error| ApiError::internal(error.to_string()))?;
    let extra = Some((CONTENT_SECURITY_POLICY, POLICY));
    let bytes = match file.bytes {
        bytes if content_type.as_bytes().starts_with(b"text/html") => Bytes::from(titled(&bytes)),
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    Ok(Reply { extra, ..Reply::typed(content_type, bytes) })
}

/// A page under our name instead of its authors'.
fn titled(page: &[u8]) -> String {
    String::from_utf8_lossy(page).replace("<title>Swagger UI</title>", "<title>Cais API</title>")
}

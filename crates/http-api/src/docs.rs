//! The `OpenAPI` document and its pages, which load nothing from other hosts.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderName,
    HeaderValue, IF_NONE_MATCH, VARY,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{SHA256, digest};
use utoipa_swagger_ui::{Config, serve};

use super::accept;
use super::error::{ApiError, ErrorCode};
use super::input::segment;
use super::openapi;
use super::reply;

/// The content security policy: pages load only files of this host and `data:` images, even if one of their scripts
/// requests another host.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);
/// The cache policy: caches revalidate their copy by its `ETag` at each use, so that a new version is visible at once.
const REVALIDATE: HeaderValue = HeaderValue::from_static("public, no-cache");

/// A file that is constant during the life of the process.
#[derive(Debug, Clone)]
struct Asset {
    content_type: HeaderValue,
    plain: Bytes,
    gzip: Bytes,
    etag: HeaderValue,
}

impl Asset {
    fn new(content_type: HeaderValue, plain: Bytes) -> Result<Self, String> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&plain).map_err(|error| error.to_string())?;
        let gzip = encoder.finish().map_err(|error| error.to_string())?.into();
        // The `ETag` is weak, because the plain and the compressed bytes share it.
        let hash = digest(&SHA256, &plain);
        let start = hash.as_ref().first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
        let etag = HeaderValue::try_from(format!("W/\"{start:032x}\"")).map_err(|error| error.to_string())?;
        Ok(Self { content_type, plain, gzip, etag })
    }

    fn response(&self, request: &HeaderMap, more: Option<(HeaderName, HeaderValue)>) -> HttpResponse {
        let mut extra = vec![(ETAG, self.etag.clone()), (CACHE_CONTROL, REVALIDATE), (VARY, VARIES)];
        // The comparison is weak (RFC 9110, 13.1.2).
        let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
        if list(request, &IF_NONE_MATCH).any(|tag| tag == "*" || opaque(tag.as_bytes()) == opaque(self.etag.as_bytes()))
        {
            return with_headers(reply::empty(StatusCode::NOT_MODIFIED), extra);
        }
        extra.extend(more);
        let body = if accepts_gzip(request) {
            extra.push((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
            self.gzip.clone()
        } else {
            self.plain.clone()
        };
        with_headers(reply::bytes(StatusCode::OK, self.content_type.clone(), body), extra)
    }
}

fn with_headers(mut response: HttpResponse, headers: Vec<(HeaderName, HeaderValue)>) -> HttpResponse {
    for (name, value) in headers {
        response.headers_mut().insert(name, value);
    }
    response
}

/// The request header that selects the plain or the compressed bytes.
const VARIES: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Returns the items of a header that is a list.
fn list<'h>(headers: &'h HeaderMap, name: &'h HeaderName) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// Returns `true` if the request accepts gzip with a weight above zero (RFC 9110, 12.5.3).
fn accepts_gzip(request: &HeaderMap) -> bool {
    let mut codings = list(request, &ACCEPT_ENCODING).filter_map(accept::read);
    codings.any(|(coding, quality)| coding.eq_ignore_ascii_case("gzip") && quality > 0)
}

static DOCUMENT: LazyLock<Result<Asset, String>> = LazyLock::new(|| {
    let text = openapi::document().map_err(|error| error.to_string())?;
    Asset::new(HeaderValue::from_static("application/json"), Bytes::from(text))
});

/// The files that were requested so far, so that each is compressed only once. Compressing the largest file takes tens of milliseconds.
static ASSETS: RwLock<BTreeMap<String, Asset>> = RwLock::new(BTreeMap::new());

/// The page and its script. They do not load Swagger UI's second bundle (`swagger-ui-standalone-preset.js`), which
/// contains the layout with the top bar.
const INDEX: &[u8] = include_bytes!("docs/index.html");
const INITIALIZER: &[u8] = include_bytes!("docs/swagger-initializer.js");
/// The files of Swagger UI that the page loads.
const VENDORED: [&str; 3] = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/// Returns the `OpenAPI` document.
///
/// # Errors
/// `internal_error` if the document cannot be serialized.
pub async fn document(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let asset = DOCUMENT.as_ref().map_err(|error| ApiError::internal(error.clone()))?;
    Ok(asset.response(request.headers(), None))
}

/// Redirects from `/docs` to `/docs/`, because the pages use relative links.
pub async fn redirect() -> HttpResponse {
    reply::redirect("/docs/")
}

/// Returns a file of the documentation pages.
///
/// # Errors
/// `not_found` if no file has that name; `internal_error` if the file cannot be read or compressed.
pub async fn page(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let file = &*segment(&request, "file");
    let known = ASSETS.read().unwrap_or_else(PoisonError::into_inner).get(file).cloned();
    let asset = if let Some(asset) = known {
        asset
    } else {
        let asset = load(file).map_err(ApiError::internal)?.ok_or(ApiError::new(ErrorCode::NotFound))?;
        ASSETS.write().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned(), asset.clone());
        asset
    };
    Ok(asset.response(request.headers(), Some((CONTENT_SECURITY_POLICY, POLICY))))
}

/// Returns a file of the documentation pages; `None` if no file has the name.
fn load(file: &str) -> Result<Option<Asset>, String> {
    let (content_type, bytes) = match file {
        "" | "index.html" => (HeaderValue::from_static("text/html; charset=utf-8"), INDEX.into()),
        "swagger-initializer.js" => (HeaderValue::from_static("text/javascript; charset=utf-8"), INITIALIZER.into()),
        vendored if VENDORED.contains(&vendored) => {
            let found = serve(vendored, Arc::new(Config::default())).map_err(|error| error.to_string())?;
            let Some(found) = found else { return Ok(None) };
            let content_type = HeaderValue::try_from(found.content_type).map_err(|error| error.to_string())?;
            (content_type, found.bytes.into_owned())
        }
        _ => return Ok(None),
    };
    Asset::new(content_type, bytes.into()).map(Some)
}

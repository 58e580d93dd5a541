//! Files of the pages, in the binary. Their names contain their hash, so browsers keep them for ever.

use std::fmt::Write as _;
use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpResponse, web};
use ring::digest::{SHA256, digest};

const CSS: &str = include_str!("../assets/dashboard.css");

/// The name of the style sheet: `dashboard-0123456789abcdef.css`.
static CSS_NAME: LazyLock<String> = LazyLock::new(|| {
    let hash = digest(&SHA256, CSS.as_bytes());
    let start: String = hash.as_ref().iter().take(8).fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("dashboard-{start}.css")
});
static CSS_PATH: LazyLock<String> = LazyLock::new(|| format!("/assets/{}", *CSS_NAME));

/// Returns the path of the style sheet.
pub(crate) fn css_path() -> &'static str {
    &CSS_PATH
}

/// Returns a file.
pub(crate) async fn serve(name: web::Path<String>) -> HttpResponse {
    if *name != *CSS_NAME {
        return HttpResponse::NotFound().finish();
    }
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/css; charset=utf-8"))
        .insert_header((CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(CSS)
}

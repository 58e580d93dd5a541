//! Files of the pages, embedded in the binary. Each path contains the file's hash, so browsers may cache the
//! file for a year.

use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpResponse, web};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// The paths of the files that every page loads.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The style sheet.
    pub(crate) css: String,
    /// The icon of the browser's tab.
    pub(crate) icon: String,
    /// The script with copy buttons, countdowns and the guard against double clicks.
    pub(crate) script: String,
    /// The library that refreshes parts of a page.
    pub(crate) htmx: String,
}

static PATHS: LazyLock<Paths> = LazyLock::new(|| Paths {
    css: path("dashboard.css"),
    icon: path("icon.svg"),
    script: path("dashboard.js"),
    htmx: path("htmx-4.0.1.min.js"),
});

/// Returns the paths of the files that every page loads.
pub(crate) fn paths() -> &'static Paths {
    &PATHS
}

/// Returns `/assets/{hash}/{name}`; empty if no such file is embedded.
fn path(name: &str) -> String {
    Files::get(name).map(|file| format!("/assets/{}/{name}", hash(&file))).unwrap_or_default()
}

/// Returns the first 64 bits of the file's SHA-256 in hexadecimal.
fn hash(file: &EmbeddedFile) -> String {
    let first = file.metadata.sha256_hash().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    format!("{first:016x}")
}

/// Returns a file, or 404 if no embedded file has the name and the hash in the path.
pub(crate) async fn serve(path: web::Path<(String, String)>) -> HttpResponse {
    let (requested_hash, name) = path.into_inner();
    let Some(file) = Files::get(&name).filter(|file| hash(file) == requested_hash) else {
        return HttpResponse::NotFound().finish();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    };
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, kind))
        .insert_header((CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(file.data.into_owned())
}

//! The dashboard: server-rendered pages. Every change is a form that works without scripts.
//!
//! A new page needs one file in `pages` with its handler and the struct of its template. The template stands in
//! `templates`, and the texts stand in `texts`. One of the lists in `pages/mod.rs` gets a line with the path. The
//! argument of a handler is a `page_context::PageContext` or, for a change, a `form::Form`. Both extractors load the
//! session before the handler runs; `Form` also checks origin and token. `guard` adds the security headers and turns
//! each `failure::Failure` into a page. Pages and command line call the same use cases.

mod assets;
mod check;
mod cookies;
mod detached;
mod download;
mod failure;
mod form;
mod format;
mod guard;
mod input;
mod layout;
mod page_context;
mod pages;
mod qr;
mod query;
mod state;
mod texts;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::guard::{GuardContext, fn_guard};
use actix_web::http::Method;
use actix_web::http::header::ACCEPT;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PayloadConfig, ServiceConfig};
use actix_web::{Error, HttpResponse, Resource, Route};

use failure::Failure;
pub use state::{Checks, Dashboard, Downloads, SandboxPay, Site};

/// The largest accepted body of a form. The longest text is a defense of 2,000 characters. A browser encodes each
/// character in at most twelve bytes.
const MAX_FORM_BYTES: usize = 32 * 1024;

/// Adds all pages to an application.
pub fn configure(dashboard: &Arc<Dashboard>, config: &mut ServiceConfig) {
    config.app_data(Data::from(Arc::clone(dashboard)));
    pages::configure(config);
    config.service(web::resource("/assets/{hash}/{name}").route(web::get().to(assets::serve)));
    let elsewhere = web::resource("/{path:.*}").guard(fn_guard(is_browser)).route(web::get().to(not_found));
    config.service(elsewhere.wrap(from_fn(guard::guard)));
}

/// Returns whether a browser requested the unknown path. Other clients receive the error of the API.
fn is_browser(context: &GuardContext<'_>) -> bool {
    let head = context.head();
    let accepts = head.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    head.method == Method::GET && accepts.is_some_and(|accept| accept.contains("text/html"))
}

async fn not_found() -> Result<HttpResponse, Failure> {
    Err(Failure::NotFound)
}

/// Returns the resource of a path: its handlers, wrapped in [`guard::guard`].
fn page(
    path: &'static str,
    routes: Vec<Route>,
) -> Resource<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<BoxBody>, Error = Error, InitError = ()>,
> {
    let resource = routes.into_iter().fold(web::resource(path), Resource::route);
    resource.app_data(PayloadConfig::new(MAX_FORM_BYTES)).wrap(from_fn(guard::guard))
}

//! The dashboard: server-rendered pages. Every change is a form that works without scripts.
//!
//! To add a page: one file in `pages` with its handler and its template's struct, the template in `templates`, the texts in
//! `texts`, and one line in [`configure`]. A handler takes a `visit::Visit` or, for a change, a `form::Form`: they
//! load the session and check origin and token before the handler runs. `guard` adds the security headers and turns each
//! `failure::Failure` into a page. Pages and command line call the same use cases.

mod assets;
mod cookies;
mod detached;
mod download;
mod failure;
mod form;
mod format;
mod guard;
mod input;
mod layout;
mod pages;
mod query;
mod state;
mod texts;
mod visit;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PayloadConfig, ServiceConfig};
use actix_web::{Error, Resource, Route};

pub use state::{Dashboard, Downloads, SandboxPay, Site};

/// The largest form: a defense of 2,000 characters, each of which a browser writes as up to twelve bytes.
const MAX_FORM_BYTES: usize = 32 * 1024;

/// Adds all pages to an application.
pub fn configure(dashboard: &Arc<Dashboard>, config: &mut ServiceConfig) {
    use pages::{
        api_log, code, confirm, enrol, events, home, keys, language, log_in, log_out, new_key, operator, password,
        revoke_key, sessions, sign_up, webhooks, welcome,
    };
    let (get, post) = (web::get, web::post);
    config.app_data(Data::from(Arc::clone(dashboard)));
    for page in [
        page("/", vec![get().to(home::show)]),
        page("/login", vec![get().to(log_in::show), post().to(log_in::submit)]),
        page("/login/code", vec![get().to(code::show), post().to(code::submit)]),
        page("/login/enrol", vec![get().to(enrol::show), post().to(enrol::submit)]),
        page("/signup", vec![get().to(sign_up::show), post().to(sign_up::submit)]),
        page("/welcome/{token}", vec![get().to(welcome::show), post().to(welcome::submit)]),
        page("/logout", vec![post().to(log_out::submit)]),
        page("/language", vec![post().to(language::submit)]),
        page("/password", vec![get().to(password::show), post().to(password::submit)]),
        page("/sessions", vec![get().to(sessions::show)]),
        page("/sessions/{id}/end", vec![post().to(sessions::end)]),
        page("/keys", vec![get().to(keys::show)]),
        page("/keys/new", vec![get().to(new_key::show), post().to(new_key::submit)]),
        page("/keys/{prefix}/revoke", vec![get().to(revoke_key::show), post().to(revoke_key::submit)]),
        page("/confirm/{id}", vec![get().to(confirm::show), post().to(confirm::submit)]),
        page("/webhooks", vec![get().to(webhooks::list::show)]),
        page("/webhooks/new", vec![get().to(webhooks::create::show), post().to(webhooks::create::submit)]),
        page("/webhooks/{id}", vec![get().to(webhooks::show::show), post().to(webhooks::actions::change)]),
        page("/webhooks/{id}/pause", vec![post().to(webhooks::actions::pause)]),
        page("/webhooks/{id}/activate", vec![post().to(webhooks::actions::activate)]),
        page("/webhooks/{id}/test", vec![post().to(webhooks::actions::send_test)]),
        page("/webhooks/{id}/rotate", vec![post().to(webhooks::rotate::submit)]),
        page("/webhooks/{id}/delete", vec![get().to(webhooks::delete::show), post().to(webhooks::delete::submit)]),
        page("/webhooks/{id}/deliveries/{delivery}/resend", vec![post().to(webhooks::actions::resend)]),
        page("/api-log", vec![get().to(api_log::show)]),
        page("/operator/accounts", vec![get().to(operator::accounts::list::show)]),
        page(
            "/operator/accounts/{id}",
            vec![get().to(operator::accounts::show::show), post().to(operator::accounts::change::submit)],
        ),
        page("/operator/audit", vec![get().to(operator::audit::show)]),
        page("/operator/callbacks", vec![get().to(operator::callbacks::show)]),
        page("/operator/callbacks/{id}/retry", vec![post().to(operator::callbacks::try_again)]),
        page("/operator/acquirers", vec![get().to(operator::acquirers::show)]),
        page("/events", vec![get().to(events::list::show)]),
        page("/events/{id}", vec![get().to(events::show::show)]),
        page("/events/{id}/resend", vec![post().to(events::show::resend)]),
    ] {
        config.service(page);
    }
    pages::payments(config);
    pages::orders(config);
    config.service(web::resource("/assets/{hash}/{name}").route(get().to(assets::serve)));
}

/// Returns a path with its handlers behind the guard.
fn page(
    path: &'static str,
    routes: Vec<Route>,
) -> Resource<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<BoxBody>, Error = Error, InitError = ()>,
> {
    let resource = routes.into_iter().fold(web::resource(path), Resource::route);
    resource.app_data(PayloadConfig::new(MAX_FORM_BYTES)).wrap(from_fn(guard::guard))
}

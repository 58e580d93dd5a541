//! The two listeners and their limits.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_server::Server;
use actix_web::web::{self, Payload};
use actix_web::{App, HttpRequest};

use super::connections::{ConnectionLimits, Door, PerAddress, factory};
use super::routes::Router;
use super::service;
use super::state::AppState;

/// The options of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// Threads that serve the public address.
    pub workers: usize,
    /// Seconds for requests in flight after the servers are stopped.
    pub shutdown_timeout_s: u64,
    /// Limits of connections.
    pub limits: ConnectionLimits,
}

/// Both servers, which run while they are polled. Neither handles signals: the caller stops them.
pub struct Servers {
    /// The public address.
    pub public: Server,
    /// The admin address.
    pub admin: Server,
}

/// Serves the API on `listen`, and `/metrics` with the probes on `admin`.
///
/// # Errors
/// A listener cannot be used.
pub fn serve(
    state: Arc<AppState>,
    listen: TcpListener,
    admin: TcpListener,
    options: ServeOptions,
) -> io::Result<Servers> {
    let router = Arc::new(Router::public(state.sandbox.is_some()));
    let public = bind(Arc::clone(&state), router, listen, options)?;
    let admin_options = ServeOptions { workers: 1, limits: options.limits.admin(), ..options };
    let admin = bind(state, Arc::new(Router::admin()), admin, admin_options)?;
    Ok(Servers { public, admin })
}

fn bind(state: Arc<AppState>, router: Arc<Router>, listener: TcpListener, options: ServeOptions) -> io::Result<Server> {
    let (limits, workers) = (options.limits, options.workers.max(1));
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections((limits.connections / workers).max(1))
        .shutdown_timeout(options.shutdown_timeout_s)
        .disable_signals();
    let drain = builder.graceful_shutdown_signal();
    let door = Door { state, router, limits, places: PerAddress::new(limits.per_address), drain };
    let server = builder.listen("http", listener, move || factory(door.clone()))?;
    Ok(server.run())
}

/// Returns the application: one service for every path, because the order of checks is specified.
pub fn app(
    state: Arc<AppState>,
    router: Arc<Router>,
) -> App<
    impl actix_web::dev::ServiceFactory<
        actix_web::dev::ServiceRequest,
        Config = (),
        Response = actix_web::dev::ServiceResponse,
        Error = actix_web::Error,
        InitError = (),
    >,
> {
    let handler = move |request: HttpRequest, payload: Payload| {
        service::answer(Arc::clone(&state), Arc::clone(&router), request, payload)
    };
    App::new().default_service(web::to(handler))
}

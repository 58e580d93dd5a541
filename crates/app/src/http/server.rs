//! The two listeners and their limits.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Payload};
use actix_web::{App, HttpRequest, HttpServer};

use super::routes::Router;
use super::service;
use super::state::AppState;

/// How long a client may take to send a request's headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// How long a connection that is being closed may take to take its last bytes.
const DISCONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long an idle connection is kept: longer than the usual 60 s of load balancers, so that they close first.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// Connections per worker.
const MAX_CONNECTIONS: usize = 10_000;
/// Connections on the admin address: probes and a scraper.
const MAX_ADMIN_CONNECTIONS: usize = 64;

/// How the servers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// Threads that serve the public address.
    pub workers: usize,
    /// Seconds that requests in flight get when the servers are stopped.
    pub shutdown_timeout_s: u64,
}

/// Both servers, running once they are polled. Neither listens for signals: whoever started them stops them.
pub struct Servers {
    /// The public address.
    pub public: Server,
    /// The admin address.
    pub admin: Server,
}

/// Serves the interface on `listen`, and `/metrics` with the probes on `admin`.
///
/// # Errors
/// When a listener cannot be used.
pub fn serve(state: AppState, listen: TcpListener, admin: TcpListener, options: ServeOptions) -> io::Result<Servers> {
    let state = Arc::new(state);
    let router = Arc::new(Router::public(state.sandbox.is_some()));
    let public =
        bind(Arc::clone(&state), router, listen, options.workers.max(1), MAX_CONNECTIONS, options.shutdown_timeout_s)?;
    let admin = bind(state, Arc::new(Router::admin()), admin, 1, MAX_ADMIN_CONNECTIONS, options.shutdown_timeout_s)?;
    Ok(Servers { public, admin })
}

fn bind(
    state: Arc<AppState>,
    router: Arc<Router>,
    listener: TcpListener,
    workers: usize,
    max_connections: usize,
    shutdown_timeout_s: u64,
) -> io::Result<Server> {
    let server = HttpServer::new(move || app(Arc::clone(&state), Arc::clone(&router)))
        .workers(workers)
        .client_request_timeout(HEADERS_WITHIN)
        .client_disconnect_timeout(DISCONNECT_WITHIN)
        .keep_alive(KEEP_ALIVE)
        .max_connections(max_connections)
        .shutdown_timeout(shutdown_timeout_s)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

/// The application: one service for every path, because the order of checks is ours and not a framework's.
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

//! The two listeners and their limits.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_server::Server;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data};
use actix_web::{App, Error};

use super::connections::{ConnectionLimits, ListenerState, PerAddress, factory};
use super::fallback::not_found;
use super::middleware::respond;
use super::state::AppState;
use super::{openapi, routes};

/// The options of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// The number of threads that serve the public address.
    pub workers: usize,
    /// Seconds for which requests in flight may continue after the servers begin to stop.
    pub shutdown_timeout_s: u64,
    /// Limits of connections to the public address. [`ConnectionLimits::admin`] derives those of the admin address.
    pub limits: ConnectionLimits,
}

/// Both servers, which run while they are polled. The servers do not handle signals; the caller stops them.
pub struct Servers {
    /// The server of the public address.
    pub public: Server,
    /// The server of the admin address.
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
    let public = bind(Arc::clone(&state), Listener::Public, listen, options)?;
    let admin_options = ServeOptions { workers: 1, limits: options.limits.admin(), ..options };
    let admin = bind(state, Listener::Admin, admin, admin_options)?;
    Ok(Servers { public, admin })
}

fn bind(state: Arc<AppState>, listener: Listener, socket: TcpListener, options: ServeOptions) -> io::Result<Server> {
    let (limits, workers) = (options.limits, options.workers.max(1));
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections((limits.connections / workers).max(1))
        .shutdown_timeout(options.shutdown_timeout_s)
        .disable_signals();
    let drain = builder.graceful_shutdown_signal();
    let shared = ListenerState { state, listener, limits, per_address: PerAddress::new(limits.per_address), drain };
    let server = builder.listen("http", socket, move || factory(shared.clone()))?;
    Ok(server.run())
}

/// A listener of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// The API, its documentation and the dashboard.
    Public,
    /// `/metrics` and the probes.
    Admin,
}

/// Returns the application of a listener.
pub fn app(
    state: Arc<AppState>,
    listener: Listener,
) -> App<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<BoxBody>, Error = Error, InitError = ()>,
> {
    let (with_sandbox, pages) = (state.sandbox.is_some(), Arc::clone(&state.pages));
    let app = App::new().app_data(Data::from(state)).app_data(openapi::methods()).default_service(web::to(not_found));
    let app = match listener {
        Listener::Public => {
            app.configure(routes::open).service(routes::api(with_sandbox)).configure(|config| pages(config))
        }
        Listener::Admin => app.configure(routes::admin).service(routes::without_paths()),
    };
    app.wrap(from_fn(respond))
}

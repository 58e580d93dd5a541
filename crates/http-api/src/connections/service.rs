//! Passes accepted sockets to the HTTP library, and enforces the connections' deadlines.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_http::HttpService;
use actix_server::GracefulShutdownSignal;
use actix_service::{IntoServiceFactory as _, Service, ServiceFactory, ServiceFactoryExt as _, fn_factory, map_config};
use actix_web::dev::AppConfig;
use futures_util::future::LocalBoxFuture;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::ConnectionLimits;
use super::connection::{Connection, Expired};
use super::per_address::PerAddress;
use super::stream::GuardedStream;
use crate::client::is_in;
use crate::server::{Listener, app};
use crate::state::AppState;

/// The counter of connections that were rejected at the limit per address, or ended at a deadline.
pub const CONNECTIONS_CUT: &str = "cais_http_connections_cut_total";

/// The state that the connections of one listener share.
#[derive(Clone)]
pub struct ListenerState {
    /// The state of handlers.
    pub state: Arc<AppState>,
    /// The listener.
    pub listener: Listener,
    /// The limits of the listener's connections.
    pub limits: ConnectionLimits,
    /// The listener's connections by address.
    pub per_address: PerAddress,
    /// Resolves when the server begins to shut down.
    pub drain: GracefulShutdownSignal,
}

/// Returns a factory that creates one service for each of the server's threads. A service handles each accepted socket until the socket
/// closes.
#[must_use]
pub fn factory(
    shared: ListenerState,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = (), InitError = ()> {
    fn_factory(move || {
        let shared = shared.clone();
        let drain = shared.drain.clone();
        let http = app(Arc::clone(&shared.state), shared.listener).into_factory();
        let http = http.map_err(|error: actix_web::Error| error.error_response());
        let http = map_config(http, |()| AppConfig::default());
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let drain = drain.clone();
                async move { drain.notified().await }
            })
            .keep_alive(shared.limits.idle_within)
            // The library's deadline applies to the first head only. This module's deadline applies to every head, so the library's is off.
            .client_request_timeout(std::time::Duration::ZERO)
            .client_disconnect_timeout(shared.limits.linger_within)
            .on_connect_ext(|stream: &GuardedStream, extensions| {
                extensions.insert(Rc::clone(stream.connection()));
            })
            .h1(http);
        async move { Ok(Guarded { shared, http: http.new_service(()).await? }) }
    })
}

/// The service of one thread: passes accepted sockets to `http`, and enforces their deadlines.
struct Guarded<S> {
    shared: ListenerState,
    http: S,
}

impl<S> Service<TcpStream> for Guarded<S>
where
    S: Service<(GuardedStream, Option<SocketAddr>), Response = ()>,
    S::Future: 'static,
{
    type Response = ();
    type Error = ();
    type Future = LocalBoxFuture<'static, Result<(), ()>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), ()>> {
        self.http.poll_ready(context).map_err(|_| ())
    }

    fn call(&self, io: TcpStream) -> Self::Future {
        let peer = io.peer_addr().ok();
        // Connections of a trusted proxy have no limit per address, because they serve many clients.
        let trusted = |peer: &SocketAddr| is_in(&self.shared.state.trusted_proxies, peer.ip().to_canonical());
        let counted = peer.filter(|peer| !trusted(peer)).map(|peer| self.shared.per_address.enter(peer.ip()));
        if let Some(None) = counted {
            metrics::counter!(CONNECTIONS_CUT, "reason" => "per_address").increment(1);
            tracing::debug!(?peer, "connection refused: its address has reached the limit");
            return Box::pin(async { Ok(()) });
        }
        let connection = Connection::new(self.shared.limits, peer);
        let stream = GuardedStream::new(io, Rc::clone(&connection), Arc::clone(&self.shared.state));
        let conversation = self.http.call((stream, peer));
        Box::pin(async move {
            let _counted = counted;
            watched(conversation, &connection).await;
            Ok(())
        })
    }
}

/// Runs a connection until it ends or one of its deadlines passes.
async fn watched<T>(conversation: impl Future<Output = T>, connection: &Connection) {
    let mut conversation = pin!(conversation);
    // Deadlines change with every request, and most never pass. So the timer is not reset at each change: the timer stays at the earliest
    // deadline so far. If the timer fires before the current deadline, the timer is set to the current deadline.
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|context| {
        loop {
            if conversation.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            let Some(reason) = due(&mut timer, connection, context) else { return Poll::Pending };
            if connection.closing().is_none() {
                metrics::counter!(CONNECTIONS_CUT, "reason" => reason.name()).increment(1);
                tracing::debug!(peer = ?connection.peer(), waited_for = reason.name(), "connection closed: its deadline passed");
            }
            if !connection.expire(reason) {
                return Poll::Ready(());
            }
        }
    })
    .await;
}

/// Returns the reason of an expired deadline. If no deadline has expired, returns `None`, and wakes the task at the next deadline.
fn due(timer: &mut Option<Pin<Box<Sleep>>>, connection: &Connection, context: &mut Context<'_>) -> Option<Expired> {
    loop {
        let (at, reason) = connection.deadline()?;
        if at <= Instant::now() {
            return Some(reason);
        }
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if timer.deadline() > at || timer.is_elapsed() {
            timer.as_mut().reset(at);
        }
        if timer.as_mut().poll(context).is_pending() {
            return None;
        }
    }
}

//! Deliberate faults: an institution that is down, slow, failing, or loses its answers.

use std::{
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    body::{BoxBody, MessageBody},
    dev::{ServerHandle, ServiceRequest, ServiceResponse},
    http::Method,
    middleware::Next,
    web,
};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use crate::{
    gn::{self, refusal::Refusal},
    pix::problem::{Kind, Problem},
    psp::Psp,
};

/// The default wait of `slow` and `late_reply`.
pub const DEFAULT_LATENCY: Duration = Duration::from_secs(5);

/// The longest wait. Every client has timed out after a minute.
pub const MAX_LATENCY: Duration = Duration::from_mins(1);

/// The number of connections that may wait to be accepted, as for other listeners.
const BACKLOG: i32 = 1024;

/// The paths without faults, so that the tester can end a fault.
const CONTROL: &str = "/sandbox/";

/// The path of tokens. The faults of writes exempt token requests: a lost token would prevent the request under test.
const TOKEN: &str = "/oauth/token";

/// The fault of requests outside the control interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultMode {
    /// No fault.
    #[default]
    Ok,
    /// New connections are refused if [`crate::SandboxConfig::refuses_when_down`] is set. Requests over existing
    /// connections are answered 429 at once, and the connection is closed. No work is done.
    Down,
    /// The work and the answer wait.
    Slow,
    /// The work is done, then the connection is closed without an answer.
    DropReply,
    /// 500, in the form of the API that was called; no work is done.
    Error,
    /// The work is done at once and the answer waits, so that a callback may precede it.
    LateReply,
    /// Requests are served normally, but every accepted callback is sent again.
    DoubleCallback,
}

/// A fault mode with its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The mode.
    pub mode: FaultMode,
    /// The wait of `slow` and `late_reply`, at most [`MAX_LATENCY`]. Other modes ignore it.
    pub latency: Duration,
}

impl Default for Fault {
    fn default() -> Self {
        Self::from(FaultMode::Ok)
    }
}

impl From<FaultMode> for Fault {
    fn from(mode: FaultMode) -> Self {
        Self { mode, latency: DEFAULT_LATENCY }
    }
}

/// The present fault, which does not survive a restart.
#[derive(Debug, Default)]
pub struct Faults {
    fault: RwLock<Fault>,
    /// Set only if connections are refused, while the server runs.
    door: Mutex<Option<Door>>,
}

impl Faults {
    /// Returns the present fault.
    #[must_use]
    pub fn current(&self) -> Fault {
        *self.fault.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets another fault. Requests already admitted are not affected.
    pub fn set(&self, fault: Fault) {
        let mut current = self.fault.write().unwrap_or_else(PoisonError::into_inner);
        let was_open = current.mode != FaultMode::Down;
        let is_open = fault.mode != FaultMode::Down;
        *current = fault;
        if was_open != is_open
            && let Some(door) = &*self.door.lock().unwrap_or_else(PoisonError::into_inner)
        {
            door.set(is_open);
        }
    }

    /// Configures the listener to refuse connections while `down` is in force.
    pub fn refuse_when_down(&self, door: Door) {
        *self.door.lock().unwrap_or_else(PoisonError::into_inner) = Some(door);
    }

    /// Closes the handle on the listener of an ended server. Otherwise the port would still accept connections.
    pub fn forget_door(&self) {
        *self.door.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The listener of the server. A closed listener refuses connections and keeps its port.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    server: ServerHandle,
}

impl Door {
    /// Creates a door; `listener` is another handle on the listener of `server`.
    pub const fn new(listener: TcpListener, server: ServerHandle) -> Self {
        Self { listener, server }
    }

    /// Opens or closes the listener. After the call, the next connection is accepted or refused.
    fn set(&self, is_open: bool) {
        let socket = SockRef::from(&self.listener);
        // The server pauses and resumes asynchronously; correctness does not depend on when.
        let done = if is_open {
            socket.listen(BACKLOG)
        } else {
            drop(self.server.pause());
            socket.shutdown(Shutdown::Read)
        };
        if is_open || done.is_err() {
            drop(self.server.resume());
        }
        if let Err(error) = done {
            // Linux supports this. On other systems requests are answered 429, which also proves that no work was done.
            tracing::warn!(%error, is_open, "the sandbox's listener cannot be opened or closed; requests are answered 429 instead");
        }
    }
}

/// A second handle on a connection's socket, for cutting it under the HTTP server.
pub struct Connection(pub TcpStream);

/// Middleware that applies the present fault.
///
/// # Errors
/// The errors of the service behind it.
pub async fn inject(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let fault = request.app_data::<web::Data<Arc<Psp>>>().map_or_else(Fault::default, |psp| psp.faults.current());
    let mode = if request.path().starts_with(CONTROL) { FaultMode::Ok } else { fault.mode };
    // Lost and late replies apply only to writes. Reads are answered, so that a client can find the outcome.
    let only_asks = request.method() == Method::GET || request.path() == TOKEN;
    match mode {
        FaultMode::Ok | FaultMode::DoubleCallback => {}
        FaultMode::Slow => tokio::time::sleep(fault.latency).await,
        // The connection is older than the fault, or the control interface shares the port. Like a refused connection,
        // 429 proves that no work was done.
        FaultMode::Down => return Ok(request.into_response(HttpResponse::TooManyRequests().force_close().finish())),
        FaultMode::Error => {
            let response = error(request.path());
            return Ok(request.into_response(response));
        }
        FaultMode::DropReply | FaultMode::LateReply if only_asks => {}
        FaultMode::DropReply => {
            let response = next.call(request).await?.map_into_boxed_body();
            cut(response.request());
            return Ok(response);
        }
        FaultMode::LateReply => {
            let response = next.call(request).await?.map_into_boxed_body();
            tokio::time::sleep(fault.latency).await;
            return Ok(response);
        }
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

fn error(path: &str) -> HttpResponse {
    const DELIBERATE: &str = "the sandbox fails on request";
    if path.contains(gn::infractions::PATH_PART) {
        return Problem::new(Kind::InfractionInternalError, DELIBERATE).error_response();
    }
    if path.contains(gn::PATH_PART) {
        return Refusal::application_error(DELIBERATE).error_response();
    }
    Problem::new(Kind::InternalError, DELIBERATE).error_response()
}

/// Closes the connection of a request, so that its answer is lost.
pub fn cut(request: &HttpRequest) {
    if let Some(Connection(socket)) = request.conn_data::<Connection>()
        // The call fails only if the client closed first, with the same effect.
        && let Err(error) = socket.shutdown(Shutdown::Both)
    {
        tracing::debug!(%error, "the connection was already closed");
    }
}

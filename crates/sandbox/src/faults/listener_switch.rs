//! Closes and opens the server's listener, so that connections are refused.

use std::net::{Shutdown, TcpListener};

use actix_web::dev::ServerHandle;
use socket2::SockRef;

/// The number of connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The listener of the server. A closed listener refuses connections and keeps its port.
#[derive(Debug)]
pub struct ListenerSwitch {
    listener: TcpListener,
    server: ServerHandle,
}

impl ListenerSwitch {
    /// Creates a switch; `listener` is another handle on the listener of `server`.
    pub const fn new(listener: TcpListener, server: ServerHandle) -> Self {
        Self { listener, server }
    }

    /// Opens or closes the listener. After the call, new connections are accepted or refused accordingly.
    pub(super) fn set(&self, is_open: bool) {
        let socket = SockRef::from(&self.listener);
        // The server pauses and resumes asynchronously. Only the state of the listener matters, so a delay is harmless.
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
            // Linux supports `shutdown` of a listener. On other systems requests are answered 429, which also proves that no work was done.
            tracing::warn!(%error, is_open, "listener of the sandbox cannot be opened or closed; requests are answered 429 instead");
        }
    }
}

//! Closes the server's listener, so that connections are refused, and opens it again.

use std::net::{Shutdown, TcpListener};

use actix_web::dev::ServerHandle;
use socket2::SockRef;

/// The number of connections that may wait to be accepted after the listener was opened again.
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

    /// Opens or closes the listener. New connections are accepted or refused from the end of the call. A failure is only logged.
    pub(super) fn set(&self, is_open: bool) {
        let socket = SockRef::from(&self.listener);
        // `pause` and `resume` take effect after the call. The delay is harmless, because the listener alone determines whether connections
        // are refused.
        let done = if is_open {
            socket.listen(BACKLOG)
        } else {
            drop(self.server.pause());
            socket.shutdown(Shutdown::Read)
        };
        // If the listener cannot be closed, the server must accept connections again, to answer them 429.
        if is_open || done.is_err() {
            drop(self.server.resume());
        }
        if let Err(error) = done {
            // Linux supports `shutdown` of a listener. On other systems requests are answered 429, which also proves that no work was done.
            tracing::warn!(%error, is_open, "listener of the sandbox cannot be opened or closed; requests are answered 429 instead");
        }
    }
}

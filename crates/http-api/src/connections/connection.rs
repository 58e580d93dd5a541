//! The state of a connection, and the deadline that follows from the state.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use super::ConnectionLimits;

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between two requests: no byte of the next head has arrived.
    Idle,
    /// A request head is arriving.
    Head { since: Instant },
    /// The handler runs, or the response is being sent.
    Request,
    /// The response was sent, but the handler did not read the body to its end.
    Lingering { since: Instant },
}

/// The reason to end a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expired {
    /// A request head did not arrive in time.
    Head,
    /// After the response, the client continued to send an unread body.
    Body,
    /// The client read no bytes.
    Write,
}

impl Expired {
    /// Returns the name in logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Body => "body",
            Self::Write => "write",
        }
    }
}

/// The state of a connection. The stream reports reads and writes; the middleware reports the start and the end of requests.
#[derive(Debug)]
pub struct Connection {
    limits: ConnectionLimits,
    peer: Option<SocketAddr>,
    phase: Cell<Phase>,
    blocked_since: Cell<Option<Instant>>,
    /// The instant at which reading ended, and the reason.
    closing: Cell<Option<(Instant, Expired)>>,
    /// `true` if a head was late and no response to it was sent yet.
    late_head: Cell<bool>,
}

impl Connection {
    /// Returns the state of a newly accepted connection.
    #[must_use]
    pub fn new(limits: ConnectionLimits, peer: Option<SocketAddr>) -> Rc<Self> {
        let phase = Cell::new(Phase::Head { since: Instant::now() });
        let (blocked_since, closing, late_head) = (Cell::new(None), Cell::new(None), Cell::new(false));
        Rc::new(Self { limits, peer, phase, blocked_since, closing, late_head })
    }

    /// Returns the peer's address.
    #[must_use]
    pub const fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Records that a request head is complete and its handler begins.
    #[must_use]
    pub fn begin_request(self: &Rc<Self>) -> RequestGuard {
        self.phase.set(Phase::Request);
        RequestGuard { connection: Rc::clone(self), body_unread: false }
    }

    /// Returns the time limit for the body of a request.
    #[must_use]
    pub const fn body_within(&self) -> Duration {
        self.limits.body_within
    }

    /// Records that bytes arrived.
    pub(super) fn on_read(&self) {
        if self.phase.get() == Phase::Idle {
            self.phase.set(Phase::Head { since: Instant::now() });
        }
    }

    /// Records that bytes were sent.
    pub(super) fn on_written(&self) {
        self.blocked_since.set(None);
    }

    /// Records that no bytes can be sent now, because the client reads none.
    pub(super) fn on_blocked(&self) {
        if self.blocked_since.get().is_none() {
            self.blocked_since.set(Some(Instant::now()));
        }
    }

    /// Returns the reason why reading ended; `None` while the connection is read.
    pub(super) fn closing(&self) -> Option<Expired> {
        self.closing.get().map(|(_, reason)| reason)
    }

    /// Returns `true` once for a late head. The caller then sends the error response.
    pub(super) fn take_late_head(&self) -> bool {
        self.late_head.take()
    }

    /// Returns the deadline of the current phase, and the reason to end the connection at that deadline. Returns `None` for a phase whose
    /// deadline the HTTP library or the handler sets.
    pub(super) fn deadline(&self) -> Option<(Instant, Expired)> {
        let limits = &self.limits;
        if let Some((since, reason)) = self.closing.get() {
            return Some((since + limits.linger_within, reason));
        }
        if let Some(since) = self.blocked_since.get() {
            return Some((since + limits.write_within, Expired::Write));
        }
        match self.phase.get() {
            Phase::Head { since } => Some((since + limits.head_within, Expired::Head)),
            Phase::Lingering { since } => Some((since + limits.linger_within, Expired::Body)),
            Phase::Idle | Phase::Request => None,
        }
    }

    /// Ends the phase whose deadline has passed. Returns `true` if a response may still be sent, `false` if the connection must be dropped.
    pub(super) fn expire(&self, reason: Expired) -> bool {
        let closes = reason != Expired::Write && self.closing.get().is_none();
        if closes {
            self.closing.set(Some((Instant::now(), reason)));
            self.late_head.set(reason == Expired::Head);
        }
        closes
    }
}

/// A request in progress. The guard is dropped when the response is complete.
#[derive(Debug)]
pub struct RequestGuard {
    connection: Rc<Connection>,
    body_unread: bool,
}

impl RequestGuard {
    /// Records that the body was not read. The connection then ends after the response.
    pub fn leave_body(&mut self) {
        self.body_unread = true;
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let phase = if self.body_unread { Phase::Lingering { since: Instant::now() } } else { Phase::Idle };
        self.connection.phase.set(phase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> ConnectionLimits {
        ConnectionLimits {
            head_within: Duration::from_secs(10),
            write_within: Duration::from_secs(30),
            linger_within: Duration::from_secs(5),
            ..ConnectionLimits::default()
        }
    }

    /// Seconds from now to the deadline, and the reason of its expiry.
    fn left(connection: &Connection) -> Option<(u64, Expired)> {
        connection.deadline().map(|(at, reason)| ((at - Instant::now()).as_secs(), reason))
    }

    #[tokio::test(start_paused = true)]
    async fn heads_each_have_their_own_deadline() {
        let connection = Connection::new(limits(), None);
        tokio::time::advance(Duration::from_secs(4)).await;
        connection.on_read();
        assert_eq!(left(&connection), Some((6, Expired::Head)), "the first head's time starts with the connection");
        let request = connection.begin_request();
        assert_eq!(left(&connection), None, "handlers have deadlines of their own");
        connection.on_read();
        assert_eq!(left(&connection), None, "the handler sets the deadline of its body");
        drop(request);
        assert_eq!(left(&connection), None, "the library ends idle connections");
        connection.on_read();
        tokio::time::advance(Duration::from_secs(3)).await;
        connection.on_read();
        assert_eq!(left(&connection), Some((7, Expired::Head)), "further bytes do not move the deadline");
    }

    #[tokio::test(start_paused = true)]
    async fn unread_body_ends_connection_after_response() {
        let connection = Connection::new(limits(), None);
        connection.begin_request().leave_body();
        connection.on_read();
        assert_eq!(left(&connection), Some((5, Expired::Body)));
        assert!(connection.expire(Expired::Body), "the response is still sent");
        assert_eq!((connection.closing(), left(&connection)), (Some(Expired::Body), Some((5, Expired::Body))));
        assert!(!connection.expire(Expired::Body), "after the second expiry the connection is dropped");
    }

    #[tokio::test(start_paused = true)]
    async fn write_expires_only_without_progress() {
        let connection = Connection::new(limits(), None);
        let _request = connection.begin_request();
        connection.on_blocked();
        tokio::time::advance(Duration::from_secs(20)).await;
        connection.on_blocked();
        assert_eq!(left(&connection), Some((10, Expired::Write)));
        connection.on_written();
        assert_eq!(left(&connection), None);
        connection.on_blocked();
        assert_eq!(left(&connection), Some((30, Expired::Write)));
        assert!(!connection.expire(Expired::Write));
    }
}

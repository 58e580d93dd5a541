//! A TCP stream that reports its reads and writes to its [`Connection`].

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connection::Connection;
use super::failure;
use crate::error::ErrorCode;
use crate::state::AppState;

/// The largest number of bytes that the library reads before it handles them. Without this limit the library first reads up to 128 KiB, and
/// its buffer grows to 256 KiB, even if the body is not needed.
const MAX_READ_BYTES: usize = 16 * 1024;

/// The stream of a connection.
pub struct GuardedStream {
    io: TcpStream,
    connection: Rc<Connection>,
    state: Arc<AppState>,
    /// The unsent bytes of an error response that this module writes without the HTTP library.
    own: Vec<u8>,
    /// The number of bytes that the library read since its last read that returned `Pending`. After `Pending` the library handles the bytes
    /// that it has.
    read_bytes: usize,
}

impl GuardedStream {
    /// Returns the stream of `connection`.
    pub fn new(io: TcpStream, connection: Rc<Connection>, state: Arc<AppState>) -> Self {
        Self { io, connection, state, own: Vec::new(), read_bytes: 0 }
    }

    /// Returns the state of the connection.
    #[must_use]
    pub const fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Returns the peer's address, for responses to bytes that are not a valid request. Such bytes have no header that names a client
    /// behind a proxy.
    fn client(&self) -> Option<IpAddr> {
        self.connection.peer().map(|peer| peer.ip().to_canonical())
    }

    fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.io).poll_write(context, bytes);
        match &sent {
            Poll::Pending => self.connection.on_blocked(),
            Poll::Ready(_) => self.connection.on_written(),
        }
        sent
    }

    /// Sends the bytes in `own`.
    fn poll_own(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() {
            let own = std::mem::take(&mut self.own);
            let sent = self.poll_send(context, &own);
            let written = if let Poll::Ready(Ok(written)) = &sent { *written } else { 0 };
            self.own = own;
            self.own.drain(..written.min(self.own.len()));
            if ready!(sent)? == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.closing().is_some() {
            // A read of zero bytes is the end of the stream. The library then completes its responses and closes.
            return Poll::Ready(Ok(()));
        }
        if this.read_bytes >= MAX_READ_BYTES {
            this.read_bytes = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = Pin::new(&mut this.io).poll_read(context, into);
        if read.is_pending() {
            this.read_bytes = 0;
        }
        ready!(read)?;
        let read_bytes = into.filled().len().saturating_sub(before);
        if read_bytes > 0 {
            this.connection.on_read();
        }
        this.read_bytes = this.read_bytes.saturating_add(read_bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_own(context))?;
        match failure::find_bare_response(bytes) {
            None => this.poll_send(context, bytes),
            Some((0, code)) => {
                this.own = failure::error_response(&this.state, this.client(), code);
                Poll::Ready(Ok(bytes.len()))
            }
            Some((before, _)) => this.poll_send(context, bytes.get(..before).unwrap_or_default()),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_own(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.take_late_head() {
            this.own.extend(failure::error_response(&this.state, this.client(), ErrorCode::RequestTimeout));
        }
        ready!(this.poll_own(context))?;
        Pin::new(&mut this.io).poll_shutdown(context)
    }
}

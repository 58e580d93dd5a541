//! A TCP proxy in front of PostgreSQL that loses a connection exactly at a COMMIT, at a batch in one statement, or at an abort.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The loss of the next commit or abort. A commit is a COMMIT unless the variant states otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The COMMIT never reaches the server.
    Request,
    /// The COMMIT reaches the server, and its reply is lost.
    Reply,
    /// The client loses its connection, and the COMMIT reaches the server only when [`Proxy::release`] is called.
    Late,
    /// The node freezes: its COMMIT never reaches the server, and its connection stays open.
    Frozen,
    /// A single-statement batch never reaches the server.
    AloneRequest,
    /// The single-statement batch reaches the server, and its reply is lost.
    AloneReply,
    /// The client loses its connection, and the batch reaches the server only when [`Proxy::release`] is called.
    AloneLate,
    /// An abort reaches the server, and its reply is lost.
    AbortReply,
}

impl Loss {
    /// Returns whether the loss applies to these bytes of a client.
    fn concerns(self, bytes: &[u8]) -> bool {
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        match self {
            Self::Request | Self::Reply | Self::Late | Self::Frozen => has(b"COMMIT\0"),
            // The bound value counts, because the statements are prepared earlier.
            Self::AloneRequest | Self::AloneReply | Self::AloneLate => has(b"committed"),
            Self::AbortReply => has(b"aborted"),
        }
    }
}

/// The proxy; its threads end with the connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    armed: Mutex<VecDeque<Loss>>,
    held: Mutex<Option<(TcpStream, Vec<u8>)>>,
}

impl Proxy {
    /// Starts a proxy in front of the server on that port of 127.0.0.1.
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let shared = Arc::clone(&accepting);
                thread::spawn(move || shared.serve(&client, &server));
            }
        });
        Self { port, shared }
    }

    /// Returns the port for clients.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Sets the losses of the next messages, one after the other.
    pub fn arm(&self, losses: &[Loss]) {
        self.shared.armed.lock().unwrap().extend(losses);
    }

    /// Returns whether all losses have happened.
    pub fn fired(&self) -> bool {
        self.shared.armed.lock().unwrap().is_empty()
    }

    /// Lets a late COMMIT reach the server.
    pub fn release(&self) {
        let (mut server, bytes) = self.shared.held.lock().unwrap().take().unwrap();
        server.write_all(&bytes).unwrap();
        // The server reads all bytes up to the end of the stream. If its reply comes first, the reply ends the connection.
        drop(server.shutdown(Shutdown::Write));
    }
}

impl Shared {
    fn serve(&self, client: &TcpStream, server: &TcpStream) {
        let (mut replies, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let muted = Arc::new(AtomicBool::new(false));
        let mute = Arc::clone(&muted);
        let backwards = thread::spawn(move || {
            let mut buffer = [0; 16_384];
            while let Ok(length @ 1..) = replies.read(&mut buffer) {
                // The reply to a lost commit: the commit is durable now, but the client receives nothing.
                if mute.load(Ordering::SeqCst) || back.write_all(buffer.get(..length).unwrap()).is_err() {
                    break;
                }
            }
            drop(back.shutdown(Shutdown::Both));
            drop(replies.shutdown(Shutdown::Both));
        });
        self.forwards(client, server, &muted);
        backwards.join().unwrap();
    }

    fn forwards(&self, mut client: &TcpStream, mut server: &TcpStream, muted: &AtomicBool) {
        let mut buffer = [0; 16_384];
        while let Ok(length @ 1..) = client.read(&mut buffer) {
            let bytes = buffer.get(..length).unwrap();
            let loss = self.armed.lock().unwrap().pop_front_if(|loss| loss.concerns(bytes));
            match loss {
                None => {
                    if server.write_all(bytes).is_err() {
                        break;
                    }
                    continue;
                }
                Some(Loss::Request | Loss::AloneRequest) => drop(server.shutdown(Shutdown::Both)),
                // The server ends the connection after its idle timeout.
                Some(Loss::Frozen) => {}
                Some(Loss::Reply | Loss::AloneReply | Loss::AbortReply) => {
                    muted.store(true, Ordering::SeqCst);
                    server.write_all(bytes).unwrap();
                }
                Some(Loss::Late | Loss::AloneLate) => {
                    *self.held.lock().unwrap() = Some((server.try_clone().unwrap(), bytes.to_vec()));
                    muted.store(true, Ordering::SeqCst);
                    drop(client.shutdown(Shutdown::Both));
                }
            }
            return;
        }
        drop(server.shutdown(Shutdown::Both));
    }
}

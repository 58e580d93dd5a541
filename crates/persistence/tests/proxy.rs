//! A TCP proxy in front of PostgreSQL that loses a connection exactly at a COMMIT.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What happens to the next COMMIT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It never reaches the server.
    Request,
    /// It reaches the server, and its reply is lost.
    Reply,
    /// The client loses its connection, and only later does the COMMIT reach the server: when [`Proxy::release`] is called.
    Late,
}

/// The proxy; its threads end with the connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    armed: Mutex<Option<Loss>>,
    held: Mutex<Option<(TcpStream, Vec<u8>)>>,
    fired: AtomicBool,
}

impl Proxy {
    /// A proxy in front of the server on that port of 127.0.0.1.
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

    /// The port to connect to.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The next COMMIT is lost in that way.
    pub fn arm(&self, loss: Loss) {
        *self.shared.armed.lock().unwrap() = Some(loss);
    }

    /// Whether a COMMIT was lost.
    pub fn fired(&self) -> bool {
        self.shared.fired.load(Ordering::SeqCst)
    }

    /// Lets a late COMMIT reach the server.
    pub fn release(&self) {
        let (mut server, bytes) = self.shared.held.lock().unwrap().take().unwrap();
        server.write_all(&bytes).unwrap();
        // The server goes on until it has read everything, then it sees the end.
        server.shutdown(Shutdown::Write).unwrap();
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
                // The reply to a COMMIT: it is durable now, and nobody hears of it.
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
            let is_commit = bytes.windows(7).any(|window| window == b"COMMIT\0");
            match is_commit.then(|| self.armed.lock().unwrap().take()).flatten() {
                None => {
                    if server.write_all(bytes).is_err() {
                        break;
                    }
                    continue;
                }
                Some(Loss::Request) => drop(server.shutdown(Shutdown::Both)),
                Some(Loss::Reply) => {
                    muted.store(true, Ordering::SeqCst);
                    server.write_all(bytes).unwrap();
                }
                Some(Loss::Late) => {
                    *self.held.lock().unwrap() = Some((server.try_clone().unwrap(), bytes.to_vec()));
                    muted.store(true, Ordering::SeqCst);
                    drop(client.shutdown(Shutdown::Both));
                }
            }
            self.fired.store(true, Ordering::SeqCst);
            return;
        }
        drop(server.shutdown(Shutdown::Both));
    }
}

//! Starts and stops a simulator within the calling process.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use jiff::SignedDuration;
use socket2::{Domain, Socket, Type};

use crate::{
    callbacks,
    config::{Credentials, SandboxConfig},
    control::Control,
    crypto::credentials::CryptoCredentials,
    journal::{self, Identity, Journal, JournalError},
    psp::{Psp, StoreError},
    random_ids::NoEntropy,
    server::{self, Running, Setup},
    state::Books,
    woovi::keys::WooviCredentials,
};

/// The reason why a simulator could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The address is not loopback. Other addresses are refused, because the control interface has no authentication.
    #[error("the sandbox listens on loopback addresses only, not on {0}")]
    NotLoopback(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error.
        #[source]
        source: io::Error,
    },
    /// The state file cannot be used.
    #[error(transparent)]
    State(#[from] JournalError),
    /// The opening balances cannot be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system returned no random bytes for new credentials.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
    /// The HTTP client that sends callbacks cannot be set up.
    #[error("the client for callbacks cannot be set up")]
    Client(#[source] reqwest::Error),
    /// The server does not start.
    #[error("the server does not start")]
    Server(#[source] io::Error),
}

/// A running simulator. Dropping the value ends the simulator without waiting; [`Sandbox::stop`] waits for the end.
pub struct Sandbox {
    psp: Arc<Psp>,
    running: Option<Running>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("host", &self.psp.host).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Loads the state and starts the server. When this function returns, the server accepts requests. The caller may use any async
    /// runtime.
    ///
    /// # Errors
    /// [`SandboxError`].
    pub async fn start(config: SandboxConfig) -> Result<Self, SandboxError> {
        if !config.listen.ip().is_loopback() {
            return Err(SandboxError::NotLoopback(config.listen));
        }
        // An error means that the process already has a TLS provider. The client can use that one.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = callbacks::client().map_err(SandboxError::Client)?;
        let (journal, identity, books) = match &config.state_file {
            Some(path) => journal::open(path)?,
            None => (Journal::Memory, Identity::generate()?, Books::default()),
        };
        let listen_error = |source| SandboxError::Listen { address: config.listen, source };
        let listener = listen(config.listen).map_err(listen_error)?;
        let host = listener.local_addr().map_err(listen_error)?.to_string();
        let merchant = (config.merchant_name, config.merchant_city);
        // A duration that a `SignedDuration` cannot express is replaced by the longest one.
        let settles_after = SignedDuration::try_from(config.payout_settles_after).unwrap_or(SignedDuration::MAX);
        let psp = Arc::new(Psp::new(identity, host, merchant, settles_after, (journal, books)));
        psp.open_account(config.opening_balance)?;
        psp.open_crypto_account()?;
        let setup = Setup {
            listener,
            refuses_when_down: config.refuses_when_down,
            workers: config.workers,
            client,
            retry_base: config.callback_retry_base,
        };
        let running = server::start(psp.clone(), setup).await.map_err(SandboxError::Server)?;
        Ok(Self { psp, running: Some(running) })
    }

    /// Returns `http://127.0.0.1:PORT`, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.psp.host)
    }

    /// Returns the credentials of a client of the API Pix. After a restart with the same state file, only the port differs.
    #[must_use]
    pub fn credentials(&self) -> Credentials {
        Credentials {
            base_url: self.base_url(),
            client_id: self.psp.identity.client_id.clone(),
            client_secret: self.psp.identity.client_secret.clone(),
            pix_key: self.psp.identity.pix_key.clone(),
        }
    }

    /// Returns the credentials of a client of the crypto processor and of the PTAX service. After a restart with the
    /// same state file, only the port differs.
    #[must_use]
    pub fn crypto_credentials(&self) -> CryptoCredentials {
        self.credentials().crypto()
    }

    /// Returns the credentials of a client of Woovi's API, for the same account. After a restart with the same state file,
    /// only the port differs.
    #[must_use]
    pub fn woovi_credentials(&self) -> WooviCredentials {
        self.credentials().woovi()
    }

    /// Returns a handle for the tester.
    #[must_use]
    pub fn control(&self) -> Control {
        Control::new(self.psp.clone())
    }

    /// Stops the server, then closes the state file. Running requests have one second to finish.
    pub async fn stop(mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }
}

/// Binds the address. The fault `down` closes the listener for a time. A closed listener keeps its port only if it was
/// bound to a port number other than 0. So for port 0, a first socket finds a free port, and the listener binds to its number.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let chosen = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    chosen.set_reuse_address(true)?;
    chosen.bind(&address.into())?;
    let address = chosen.local_addr()?.as_socket().unwrap_or(address);
    TcpListener::bind(address)
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abandon();
        }
    }
}

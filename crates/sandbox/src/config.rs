//! The configuration of a simulator, and its credentials.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use cais_domain::money::Money;

/// The default time that a sent Pix stays `EM_PROCESSAMENTO`: long enough to be observed, short enough not to delay clients.
const PAYOUT_SETTLES_AFTER: Duration = Duration::from_millis(200);

/// The default balance, R$ 1,000,000,000.00: more than any test or demonstration sends.
const OPENING_BALANCE: Money = Money::from_centavos(100_000_000_000);

/// The configuration of a [`Sandbox`](crate::Sandbox). The default is an ephemeral loopback port and no state file.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// The address to listen on. The address must be loopback. Port 0 stands for a free port.
    pub listen: SocketAddr,
    /// The path of the journal that keeps the state across restarts; `None` keeps the state in memory.
    pub state_file: Option<PathBuf>,
    /// `true`: connections are refused while all requests of the institution have the fault `down`. `/sandbox/` uses the same port, so only
    /// [`Sandbox::control`](crate::Sandbox::control) can then end the fault.
    pub refuses_when_down: bool,
    /// The number of HTTP worker threads, at least one.
    pub workers: usize,
    /// The wait before the second attempt of a callback. The wait doubles with each further attempt.
    pub callback_retry_base: Duration,
    /// The time that a sent Pix stays `EM_PROCESSAMENTO`, by the simulator's clock. With zero, the Pix is final at once. Crypto deposits
    /// take the same time; so do crypto withdrawals by default.
    pub payout_settles_after: Duration,
    /// The account's first balance, unless the state file contains a balance.
    pub opening_balance: Money,
    /// Merchant name in the BR Codes, at most 25 characters.
    pub merchant_name: String,
    /// Merchant city in the BR Codes, at most 15 characters.
    pub merchant_city: String,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            state_file: None,
            refuses_when_down: false,
            workers: 1,
            callback_retry_base: Duration::from_secs(1),
            payout_settles_after: PAYOUT_SETTLES_AFTER,
            opening_balance: OPENING_BALANCE,
            merchant_name: "CAIS SANDBOX".to_owned(),
            merchant_city: "SAO PAULO".to_owned(),
        }
    }
}

/// The credentials of a client for the API Pix. `Debug` masks the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub base_url: String,
    /// `OAuth2` client id.
    pub client_id: String,
    /// `OAuth2` client secret.
    pub client_secret: String,
    /// The Pix key (an EVP) of the simulated account.
    pub pix_key: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("base_url", &self.base_url)
            .field("client_id", &self.client_id)
            .field("client_secret", &"***")
            .field("pix_key", &self.pix_key)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_secret() {
        let credentials = Credentials {
            base_url: "http://127.0.0.1:1".into(),
            client_id: "id".into(),
            client_secret: "hush".into(),
            pix_key: "key".into(),
        };
        assert!(!format!("{credentials:?}").contains("hush"));
    }
}

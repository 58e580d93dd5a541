//! The processor's credentials. They are derived from the institution's client secret, so they stay the same after restarts, and the state
//! file does not contain them.

use std::fmt;

use cais_domain::hex;
use ring::hmac;

use super::totp;
use crate::{config::Credentials, ptax};

/// The credentials of a client of the crypto processor and of the PTAX service. `Debug` masks the secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct CryptoCredentials {
    /// `http://127.0.0.1:PORT`, without `/v1` and without a slash at the end.
    pub base_url: String,
    /// The value of `x-api-key`.
    pub api_key: String,
    /// The secret of `x-nowpayments-sig`.
    pub ipn_secret: String,
    /// The login of `POST /v1/auth`.
    pub email: String,
    /// The password of `POST /v1/auth`.
    pub password: String,
    /// The secret of the TOTP codes for `POST /v1/payout/{id}/verify`, in base32.
    pub totp_secret: String,
    /// The base URL of the PTAX service, up to `/odata`.
    pub ptax_base_url: String,
}

impl fmt::Debug for CryptoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CryptoCredentials")
            .field("base_url", &self.base_url)
            .field("email", &self.email)
            .field("ptax_base_url", &self.ptax_base_url)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// Returns the credentials of the crypto processor and the PTAX service that run beside the institution of these credentials.
    #[must_use]
    pub fn crypto(&self) -> CryptoCredentials {
        let keys = Keys::of(&self.client_secret);
        CryptoCredentials {
            base_url: self.base_url.clone(),
            totp_secret: totp::base32(&keys.totp),
            api_key: keys.api_key,
            ipn_secret: keys.ipn_secret,
            email: keys.email,
            password: keys.password,
            ptax_base_url: format!("{}{}", self.base_url, ptax::PATH.trim_end_matches('/')),
        }
    }
}

/// The secrets of the processor.
pub struct Keys {
    /// The value of `x-api-key`.
    pub api_key: String,
    /// The secret that signs notifications.
    pub ipn_secret: String,
    /// The login of `POST /v1/auth`.
    pub email: String,
    /// The password of `POST /v1/auth`.
    pub password: String,
    /// The key of the TOTP codes of `POST /v1/payout/{id}/verify`, not yet in base32.
    pub totp: [u8; totp::KEY_LENGTH],
    /// The key that signs JWTs.
    pub jwt: hmac::Key,
    /// The number before the first id, derived from the client secret, so that two simulators assign different ids.
    pub id_base: u64,
    /// The seed of deposit addresses.
    pub addresses: hmac::Key,
}

impl Keys {
    /// Derives the secrets from the institution's client secret.
    #[must_use]
    pub fn of(client_secret: &str) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, client_secret.as_bytes());
        let derive = |purpose: &str| hmac::sign(&root, purpose.as_bytes());
        let text = |purpose: &str, bytes: usize| hex::encode(derive(purpose).as_ref().iter().take(bytes));
        let mut totp = [0_u8; totp::KEY_LENGTH];
        for (to, from) in totp.iter_mut().zip(derive("totp").as_ref()) {
            *to = *from;
        }
        let number = derive("ids").as_ref().iter().take(7).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        let key = text("api key", 14).to_uppercase();
        let groups = [key.get(..7), key.get(7..14), key.get(14..21), key.get(21..28)];
        Self {
            api_key: groups.map(Option::unwrap_or_default).join("-"),
            ipn_secret: text("ipn secret", 16),
            email: format!("{}@sandbox.cais", text("email", 4)),
            password: text("password", 12),
            totp,
            jwt: hmac::Key::new(hmac::HMAC_SHA256, derive("jwt").as_ref()),
            // Every id has ten digits, because a billion ids fit between the largest base and 9,999,999,999.
            id_base: 4_000_000_000 + number % 5_000_000_000,
            addresses: hmac::Key::new(hmac::HMAC_SHA256, derive("addresses").as_ref()),
        }
    }
}

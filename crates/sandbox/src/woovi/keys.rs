//! The credentials of Woovi's API. They are derived from the institution's client secret, so they stay the same after a restart, although
//! the state file does not contain them.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use cais_domain::hex;
use ring::hmac;

use super::{PATH, webhook_key};
use crate::config::Credentials;

/// The credentials of a client of Woovi's API. `Debug` shows only `base_url`.
#[derive(Clone, PartialEq, Eq)]
pub struct WooviCredentials {
    /// `http://127.0.0.1:PORT/woovi`, without a slash at the end. A client appends paths such as `/api/v1/charge`.
    pub base_url: String,
    /// The `AppID`, the value of the header `Authorization`.
    pub app_id: String,
    /// The HMAC key of the header `X-OpenPix-Signature`, the same for every webhook.
    pub hmac_secret: String,
    /// The public key that verifies the header `x-webhook-signature`, in PEM.
    pub webhook_public_key: String,
}

impl fmt::Debug for WooviCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WooviCredentials").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Returns the credentials of the same account at the API of Woovi.
    #[must_use]
    pub fn woovi(&self) -> WooviCredentials {
        let keys = Keys::of(&self.client_secret);
        WooviCredentials {
            base_url: format!("{}{}", self.base_url, PATH.trim_end_matches('/')),
            app_id: keys.app_id,
            hmac_secret: keys.hmac_secret,
            webhook_public_key: webhook_key::PUBLIC.to_owned(),
        }
    }
}

/// The secrets of Woovi's API.
pub struct Keys {
    /// The `AppID`, the value of the header `Authorization`.
    pub app_id: String,
    /// The key of the deprecated HMAC signature.
    pub hmac_secret: String,
}

impl Keys {
    /// Derives the secrets from the institution's client secret.
    #[must_use]
    pub fn of(client_secret: &str) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, client_secret.as_bytes());
        let derive = |purpose: &str| hex::encode(hmac::sign(&root, purpose.as_bytes()).as_ref());
        let client = derive("woovi client");
        let id = client.get(..32).unwrap_or_default();
        Self {
            // A real `AppID` has the same form: base64 of `Client_Id_…:Client_Secret_…`.
            app_id: STANDARD.encode(format!("Client_Id_{id}:Client_Secret_{}", derive("woovi app"))),
            hmac_secret: format!("openpix_{}", derive("woovi hmac")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_app_id() {
        let text = String::new;
        let credentials = Credentials {
            base_url: "http://127.0.0.1:1".into(),
            client_id: text(),
            client_secret: "hush".into(),
            pix_key: text(),
        };
        let woovi = credentials.woovi();
        let shown = format!("{woovi:?}");
        assert!(!shown.contains(&woovi.app_id) && !shown.contains(&woovi.hmac_secret), "{shown}");
        assert_eq!(woovi.base_url, "http://127.0.0.1:1/woovi");
    }
}

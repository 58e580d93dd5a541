//! The secrets of sessions and one-time links. A token is a public id and 256 random bits; only a hash of the bits is
//! stored.

use cais_domain::hex;
use cais_domain::ids::{Id, IdKind};
use cais_ports::{Secret, SecretHash};

use crate::Ports;

/// The number of random bytes in a secret.
const SECRET_BYTES: usize = 32;

/// A public id with its secret, as in a cookie or a link: `ses_….0f3a…`.
#[derive(Debug)]
pub struct SecretToken<K: IdKind> {
    /// The public id.
    pub id: Id<K>,
    /// The secret, in hexadecimal digits.
    pub secret: Secret,
}

// A derived `Clone` would require `K: Clone`.
impl<K: IdKind> Clone for SecretToken<K> {
    fn clone(&self) -> Self {
        Self { id: self.id, secret: self.secret.clone() }
    }
}

impl<K: IdKind> SecretToken<K> {
    /// Creates a token with a new random secret.
    pub(super) fn draw(ports: &Ports, id: Id<K>) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        ports.keyed_hash.fill_random(&mut bytes);
        Self { id, secret: Secret::new(hex::encode(bytes)) }
    }

    /// Parses a text of [`SecretToken::expose`]. Returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once('.')?;
        let is_whole =
            secret.len() == SECRET_BYTES.saturating_mul(2) && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self { id: Id::parse(id).ok()?, secret: Secret::new(secret) }).filter(|_| is_whole)
    }

    /// Returns the text for the cookie or the link. The text contains the secret.
    #[must_use]
    pub fn expose(&self) -> String {
        format!("{}.{}", self.id, self.secret.expose())
    }

    pub(super) fn hash(&self, ports: &Ports, purpose: &str) -> SecretHash {
        ports.keyed_hash.hash(purpose, self.secret.expose().as_bytes())
    }

    pub(super) fn has(&self, ports: &Ports, purpose: &str, hash: &SecretHash) -> bool {
        ports.keyed_hash.verify(purpose, self.secret.expose().as_bytes(), hash)
    }
}

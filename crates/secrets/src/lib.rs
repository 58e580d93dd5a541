//! Secrets: all keys are derived from one master key of 32 bytes, and stored secrets are encrypted under such a key.
//!
//! - [`MasterKey`] is read from the configuration, or created once in the data directory.
//! - [`HmacSha256`] implements [`cais_ports::KeyedHash`]. The secrets of API keys are stored as its hashes, and callback
//!   addresses contain one of its hashes.
//! - [`Aes256GcmCipher`] implements [`cais_ports::SecretCipher`]. Signing secrets are encrypted under a key that
//!   [`HmacSha256`] derives.
//!
//! Three adapters need no key: [`Argon2Passwords`] implements [`cais_ports::Passwords`], [`TotpCodes`] implements
//! [`cais_ports::OneTimeCodes`], and [`UuidV7`] implements [`cais_ports::IdGenerator`].

mod cipher;
mod ids;
mod keyed_hash;
mod master_key;
mod one_time_codes;
mod passwords;

pub use cipher::Aes256GcmCipher;
pub use ids::UuidV7;
pub use keyed_hash::{HmacSha256, callback_token};
pub use master_key::{MASTER_KEY_FILE, MasterKey, MasterKeyError};
pub use one_time_codes::TotpCodes;
pub use passwords::Argon2Passwords;

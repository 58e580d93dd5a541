//! Webhooks as Cais sends them: signed as Standard Webhooks say, to receivers that may be called, and no others.
//!
//! [`HttpSender`] is the sender. What it sends is signed by [`signing`] and checked by [`mod@verify`]; whom it may call is judged in
//! three places, so that nothing lies between the judgement and the connection: `vetting` reads the URL, `addresses` has the table
//! of what is public, and `resolver` stands between the client's connections and the names that they are made to. [`relay`]
//! forwards the events of an account to a developer's machine.
//!
//! To add one more way to sign (such as `v1a`, Ed25519):
//! 1. make its key a kind of secret in [`cais_ports::secret_cipher`], with its own prefix in [`signing`];
//! 2. add its entries to those of [`signing::signatures`]: receivers skip versions that they do not know;
//! 3. teach [`mod@verify`] to judge them.
//!
//! To refuse one more range of addresses, add a line to the tables of `addresses`, and its ends to their test.

mod addresses;
mod answer;
mod client;
mod failure;
pub mod relay;
mod resolver;
mod sender;
pub mod signing;
#[cfg(test)]
mod tests;
pub mod verify;
mod vetting;

pub use relay::{Relay, RelayError, RelayedEvent};
pub use sender::{HttpSender, SenderError, WebhookPolicy};
pub use signing::{ID_HEADER, SIGNATURE_HEADER, SecretError, TIMESTAMP_HEADER, parse_secret, signatures};
pub use verify::{Received, TOLERANCE, VerifyError, verify};

//! Sends webhooks signed by the Standard Webhooks specification, only to permitted addresses.
//!
//! [`HttpSender`] is the sender. [`signing`] creates signatures and [`mod@verify`] verifies them. `vetting` checks the
//! URL of a destination. `resolver` checks each address when the client connects, so that the checked address is the
//! one that is called. `addresses` has the tables of address ranges. [`relay`] forwards an account's events to a
//! developer's machine.
//!
//! To add a signature version (such as `v1a`, Ed25519):
//! 1. Add its key as a kind of secret in [`cais_ports::secret_cipher`], with its own prefix in [`signing`].
//! 2. Add its entries to [`signing::signatures`]. Receivers skip unknown versions.
//! 3. Extend [`mod@verify`].
//!
//! To refuse another range of addresses, add a line to the tables of `addresses`. Also add the first and last address
//! of the range to the tables of its tests.

mod addresses;
mod answer;
mod client;
mod failure;
mod measured;
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

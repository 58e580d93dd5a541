//! The institutions that take and hold Pix charges, reached over HTTP, and the router that knows who answers just now.
//!
//! [`bacen`] speaks the Central Bank's API Pix and serves every institution of that standard, which takes and returns Pix but
//! sends none. [`efi`] adds what Efí has for sending and for infractions. [`router::Router`] holds the configured acquirers in
//! their order, guards each with a [`breaker`] and counts its calls.
//!
//! To add one more acquirer:
//! 1. make a folder named after it, beside `bacen`, with its configuration, the shapes on its wire and one file per thing asked;
//! 2. reach it through `http`, which has the limits: bounded answers, deadlines, TLS of our own, and the table that tells what
//!    certainly was not done from what may have been;
//! 3. implement [`cais_ports::Acquirer`]: verify everything an answer says before it is returned, and call nothing a failure
//!    that may have happened;
//! 4. construct it in the app's wiring and hand it to the router.

pub mod bacen;
pub mod breaker;
mod deadline;
pub mod efi;
mod guarded;
mod http;
pub mod router;
pub mod trace;

pub use bacen::{BacenAcquirer, BacenConfig, BacenConfigError, Timeouts};
pub use efi::EfiAcquirer;
pub use http::{Certificate, CertificateError, Secret};
pub use router::Router;

//! A simulated PSP that speaks the Central Bank's API Pix 2.9.0 over HTTP, for development, tests and demonstrations.
//!
//! It stands for another company's system: it is strict about what it accepts, keeps its own file, survives the death of
//! its client, and goes wrong when told to. Start it with [`Sandbox::start`]; a client uses [`Sandbox::credentials`] like
//! those of any institution, and a tester uses [`Sandbox::control`] or the same operations under `/sandbox/` over HTTP.
//!
//! Rooms: `pix` is the API as clients see it, one file a resource; `state` is what is kept, and `journal` how;
//! `payments` and `refunds` are what the payer and the settlement system do; `control` and `faults` are the tester's hand.
//! Another API of the same institution is another folder beside `pix`, over the same `state`.

mod callbacks;
mod clock;
mod config;
mod control;
mod dice;
mod faults;
mod journal;
mod payments;
mod pix;
mod psp;
mod refunds;
mod requests;
mod sandbox;
mod server;
mod state;
mod wire;

pub use config::{Credentials, SandboxConfig};
pub use control::{
    Control, ControlError,
    ledger::{CallbackCounts, Ledger, Movements, ReceivedItem, ReturnedItem, SentItem},
};
pub use faults::{DEFAULT_LATENCY, Fault, FaultMode, MAX_LATENCY};
pub use journal::JournalError;
pub use payments::PaidPix;
pub use psp::StoreError;
pub use requests::Operation;
pub use sandbox::{Sandbox, SandboxError};
pub use state::Inconsistent;

//! A simulated PSP that speaks the Central Bank's API Pix 2.9.0 and Efí's cash-out and infractions (MED) over HTTP, for
//! development, tests and demonstrations.
//!
//! It stands for another company's system: it is strict about what it accepts, keeps its own file, survives the death of
//! its client, and goes wrong when told to. Start it with [`Sandbox::start`]; a client uses [`Sandbox::credentials`] like
//! those of any institution, and a tester uses [`Sandbox::control`] or the same operations under `/sandbox/` over HTTP.
//!
//! Rooms: `pix` is the Central Bank's API as clients see it and `gn` what Efí adds to it, one file a resource; `state` is
//! what is kept, and `journal` how; `payments`, `refunds`, `infractions`, `sends`, `recipients` and
//! `settlement` are what payers, recipients and the settlement system do; `control` and `faults` are the tester's hand.
//! Another API of the same institution is another folder beside `pix`, over the same `state`.
//!
//! Whatever was received, sent or charged is kept for ever, in memory and in the file: it is not for months of load.

mod callbacks;
mod clock;
mod config;
mod control;
mod dice;
mod faults;
mod gn;
mod infractions;
mod journal;
mod payments;
mod pix;
mod psp;
mod recipients;
mod refunds;
mod requests;
mod sandbox;
mod sends;
mod server;
mod settlement;
mod state;
mod wire;

pub use config::{Credentials, SandboxConfig};
pub use control::{
    Control, ControlError,
    infractions::InfractionItem,
    ledger::{CallbackCounts, GivenBackItem, Ledger, Movements, ReceivedItem, ReturnedItem, SentItem},
};
pub use faults::{DEFAULT_LATENCY, Fault, FaultMode, MAX_LATENCY};
pub use infractions::{InfractionClaim, InfractionOutcome};
pub use journal::JournalError;
pub use payments::PaidPix;
pub use psp::StoreError;
pub use requests::Operation;
pub use sandbox::{Sandbox, SandboxError};
pub use state::{Inconsistent, infraction::InfractionStatus, sent::GivenBack, sent::SendStatus};

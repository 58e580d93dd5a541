//! A simulated PSP with the Central Bank's API Pix 2.9.0 and Efí's payouts and infractions (MED) over HTTP, for
//! development, tests and demonstrations.
//!
//! The simulator represents the system of another company. Requests are validated strictly. The state can be kept in a file, so that it
//! survives a crash of the process. The tester can cause faults.
//!
//! [`Sandbox::start`] starts a simulator. A client connects with [`Sandbox::credentials`], as to a real institution. A tester uses
//! [`Sandbox::control`], or the same operations under `/sandbox/` over HTTP.
//!
//! The same institution has a second API in the form of Woovi (`OpenPix`), under `/woovi/` (module `woovi`).
//!
//! Beside the institution, the same server simulates a crypto processor (`crypto`, the `NOWPayments` API under `/v1/`) and
//! the Central Bank's PTAX service (`ptax`).
//!
//! Modules: `pix` contains the Central Bank's API, and `efi` contains Efí's extensions, both with one file per resource. `state` is the
//! stored state, and `journal` is its file. `payments`, `refunds`, `infractions`, `sends`, `recipients` and `settlement` simulate payers,
//! recipients and the settlement system. The tester uses `control` and `faults`. Any further API of the institution has its own folder, as
//! `woovi` has, and uses the same `state`.
//!
//! Charges and Pix are never removed from memory or from the file. So the simulator is not suited for a load test of months.

mod callbacks;
mod clock;
mod config;
mod control;
pub mod credentials_file;
mod crypto;
mod dialect;
mod efi;
mod faults;
mod infractions;
mod journal;
mod outbox;
mod payments;
mod pix;
mod psp;
mod ptax;
mod random_ids;
mod recipients;
mod refunds;
mod requests;
mod sandbox;
mod sends;
mod server;
mod settlement;
mod state;
mod wire;
mod woovi;

pub use config::{Credentials, SandboxConfig};
pub use control::{
    Control, ControlError,
    infractions::InfractionItem,
    ledger::{CallbackCounts, Ledger, Movements, ReceivedItem, ReturnedItem, SentItem, SentReturnItem},
};
pub use crypto::{
    Amount,
    control::{CoinState, CoinValues, CryptoDeposit},
    credentials::CryptoCredentials,
    ledger::{CryptoDepositItem, CryptoLedger, CryptoWithdrawalItem, IpnCounts},
    settings::{IpnSignature, LateDeposits, PayoutShape, Settings as CryptoSettings},
    state::{
        payment::PaymentStatus as CryptoPaymentStatus,
        payout::{WithdrawalOutcome, WithdrawalStatus},
    },
};
pub use dialect::{Defect, Dialect};
pub use faults::{DEFAULT_LATENCY, Fault, FaultMode, FaultTarget, MAX_LATENCY};
pub use infractions::{InfractionOutcome, NewDispute};
pub use journal::JournalError;
pub use payments::PaidPix;
pub use psp::StoreError;
pub use requests::Operation;
pub use sandbox::{Sandbox, SandboxError};
pub use state::{Inconsistent, infraction::InfractionStatus, sent::SendStatus, sent::SentReturn};
pub use woovi::{
    keys::WooviCredentials,
    ledger::{DeliveryCounts, WooviLedger, WooviPaymentItem},
    settings::{Settings as WooviSettings, WebhookSignature},
};

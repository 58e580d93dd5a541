//! The tester's hand on the built-in sandbox, as the API wants it: institution and service move together.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_sandbox::{Control, ControlError, Fault};

use crate::clock::OffsetClock;
use crate::http::{FaultMode, Institution, SandboxControls};
use crate::logging;

/// The controls of a sandbox that is the acquirer of that name, and of the service's own clock.
#[must_use]
pub fn controls(control: Control, acquirer: AcquirerName, clock: Arc<OffsetClock>) -> SandboxControls {
    SandboxControls {
        institution: Arc::new(InProcess(control)),
        acquirer,
        move_clock: Arc::new(move |offset_s| {
            // Out of range is refused at the door, and by the sandbox before this.
            if !clock.set_offset_s(offset_s) {
                tracing::warn!(offset_s, "the clock cannot be moved that far");
            }
        }),
    }
}

/// A sandbox in this process.
struct InProcess(Control);

fn told<T>(result: Result<T, ControlError>) -> Result<(), String> {
    result.map(|_| ()).map_err(|error| logging::chain(&error))
}

impl Institution for InProcess {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), String> {
        told(self.0.pay(txid, amount))
    }

    fn expire(&self, txid: &Txid) -> Result<(), String> {
        told(self.0.expire(txid))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), String> {
        let mode = match mode {
            FaultMode::Ok => cais_sandbox::FaultMode::Ok,
            FaultMode::Down => cais_sandbox::FaultMode::Down,
            FaultMode::Slow => cais_sandbox::FaultMode::Slow,
            FaultMode::DropReply => cais_sandbox::FaultMode::DropReply,
            FaultMode::Error => cais_sandbox::FaultMode::Error,
        };
        told(self.0.set_faults(Fault { mode, latency }))
    }

    fn set_clock_offset(&self, offset_s: i64) -> Result<(), String> {
        told(self.0.set_clock_offset(offset_s))
    }
}

//! The test controls of the built-in sandbox for the API: the institution and the service change together.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_sandbox::{Control, ControlError, Fault, InfractionClaim, InfractionOutcome};

use crate::clock::OffsetClock;
use crate::logging;
use cais_http_api::{AskedInfraction, FaultMode, Institution, InstitutionError, Resolution, SandboxControls};

/// Returns the controls of a sandbox, which is the acquirer of that name, and of the service's own clock.
#[must_use]
pub fn controls(control: Control, acquirer: AcquirerName, clock: Arc<OffsetClock>) -> SandboxControls {
    SandboxControls {
        institution: Arc::new(InProcess(control)),
        acquirer,
        move_clock: Arc::new(move |offset_s| {
            // The API and the sandbox have already rejected values out of range.
            if !clock.set_offset_s(offset_s) {
                tracing::warn!(offset_s, "the clock cannot be moved that far");
            }
        }),
    }
}

/// A sandbox in this process.
struct InProcess(Control);

fn told<T>(result: Result<T, ControlError>) -> Result<(), InstitutionError> {
    result.map(|_| ()).map_err(|error| refused(&error))
}

fn refused(error: &ControlError) -> InstitutionError {
    match error {
        ControlError::InvalidState(why) => InstitutionError::InvalidState((*why).to_owned()),
        ControlError::NotFound(_) | ControlError::OutOfRange { .. } | ControlError::Store(_) | ControlError::Id => {
            InstitutionError::Failed(logging::chain(error))
        }
    }
}

impl Institution for InProcess {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), InstitutionError> {
        told(self.0.pay(txid, amount))
    }

    fn expire(&self, txid: &Txid) -> Result<(), InstitutionError> {
        told(self.0.expire(txid))
    }

    fn return_sent(&self, instruction_id: &InstructionId) -> Result<(), InstitutionError> {
        told(self.0.return_sent(instruction_id.as_str(), None))
    }

    fn fail_refund(&self, end_to_end_id: &EndToEndId, refund: RefundId) -> Result<(), InstitutionError> {
        told(self.0.fail_refund(end_to_end_id, &refund.suffix()))
    }

    fn open_infraction(&self, end_to_end_id: &EndToEndId, asked: AskedInfraction) -> Result<String, InstitutionError> {
        let AskedInfraction { situation, amount, deadline_s } = asked;
        let claim = InfractionClaim { situation, amount, deadline_s, is_operational: false };
        match self.0.open_infraction(end_to_end_id, claim) {
            Ok(opened) => Ok(opened.id),
            // Requests with values that are out of range on their own were already rejected.
            Err(ControlError::OutOfRange { field: "valor" }) => {
                Err(InstitutionError::OutOfRange { path: "amount", rule: "must be at most what was paid" })
            }
            Err(error) => Err(refused(&error)),
        }
    }

    fn resolve_infraction(&self, upstream_id: &str, resolution: Resolution) -> Result<(), InstitutionError> {
        let outcome = match resolution {
            Resolution::Won => InfractionOutcome::Won,
            Resolution::Lost => InfractionOutcome::Lost,
            Resolution::Cancelled => InfractionOutcome::Cancelled,
        };
        told(self.0.resolve_infraction(upstream_id, outcome))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        let mode = match mode {
            FaultMode::Ok => cais_sandbox::FaultMode::Ok,
            FaultMode::Down => cais_sandbox::FaultMode::Down,
            FaultMode::Slow => cais_sandbox::FaultMode::Slow,
            FaultMode::DropReply => cais_sandbox::FaultMode::DropReply,
            FaultMode::Error => cais_sandbox::FaultMode::Error,
        };
        told(self.0.set_faults(Fault { mode, latency }))
    }

    fn set_clock_offset(&self, offset_s: i64) -> Result<(), InstitutionError> {
        told(self.0.set_clock_offset(offset_s))
    }
}

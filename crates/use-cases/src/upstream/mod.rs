//! Reading the truth of many things at an acquirer: pages of its lists first, single reads for the rest, never too many at once.

mod limits;
mod pages;

pub use limits::UpstreamLimits;
pub(crate) use pages::{Listed, Wanted, read_listed};

use cais_ports::AcquirerError;

/// Returns true for an error after which fewer requests should be in flight: the acquirer could not answer.
pub(crate) const fn is_overload(error: &AcquirerError) -> bool {
    match error {
        AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_) => true,
        AcquirerError::Refused(_) => false,
    }
}

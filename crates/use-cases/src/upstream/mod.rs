//! Reads many resources at an acquirer: pages of its lists first, single reads for the rest, within a limit of reads in
//! flight.

mod limits;
mod pages;

pub use limits::UpstreamLimits;
pub(crate) use pages::{Listed, Wanted, read_listed};

use cais_ports::AcquirerError;

/// Returns whether the error shows an acquirer that could not answer. Fewer requests should be in flight after it.
pub(crate) const fn is_overload(error: &AcquirerError) -> bool {
    match error {
        AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_) => true,
        AcquirerError::Refused(_) => false,
    }
}

//! Reads many resources at an acquirer. Pages of the acquirer's lists are read first, and the remaining resources one
//! by one. The number of concurrent reads is limited.

mod limits;
mod pages;

pub use limits::UpstreamLimits;
pub(crate) use pages::{ExpectedRow, Listed, read_listed};

use cais_ports::AcquirerError;

/// Returns whether the error shows an acquirer that could not answer. After such an error, fewer requests should be in
/// flight.
pub(crate) const fn is_overload(error: &AcquirerError) -> bool {
    match error {
        AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_) => true,
        AcquirerError::Refused(_) => false,
    }
}

//! Selects the MED returns of a received Pix: the returns that infractions caused. If the acquirer reports infractions,
//! these returns need no manual review.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::money::Money;
use cais_ports::{ReturnNature, UpstreamProgress, UpstreamReturn};
use jiff::Timestamp;

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Returns whether an infraction explains the return, so that no manual review is needed. This is true if the return
/// has the nature `Infraction` and the acquirer reports infractions.
pub(crate) fn explains(ports: &Ports, acquirer: &AcquirerName, upstream: &UpstreamReturn) -> bool {
    upstream.nature == ReturnNature::Infraction
        && ports.acquirers.named(acquirer).is_some_and(|acquirer| acquirer.reports_infractions())
}

/// Selects the returns that infractions caused.
fn of_infractions(returns: &[UpstreamReturn]) -> impl Iterator<Item = &UpstreamReturn> {
    returns.iter().filter(|one| one.nature == ReturnNature::Infraction)
}

/// Returns the sum of the completed returns that infractions caused.
pub(crate) fn returned_amount(returns: &[UpstreamReturn]) -> Result<Money, StoreError> {
    let done = of_infractions(returns).filter(|one| match one.progress {
        UpstreamProgress::Done { .. } => true,
        UpstreamProgress::Processing | UpstreamProgress::Failed { .. } => false,
    });
    Money::sum(done.map(|one| one.amount)).map_err(|error| StoreError::Internal(error.to_string()))
}

/// Returns the sum of the returns that infractions caused and that are completed or in flight.
pub(super) fn returned_or_in_flight(returns: &[UpstreamReturn]) -> Result<Money, StoreError> {
    let counted = of_infractions(returns).filter(|one| !matches!(one.progress, UpstreamProgress::Failed { .. }));
    Money::sum(counted.map(|one| one.amount)).map_err(|error| StoreError::Internal(error.to_string()))
}

/// Returns whether a return that an infraction caused is still processing. The final sum is then unknown.
pub(crate) fn has_return_in_flight(returns: &[UpstreamReturn]) -> bool {
    of_infractions(returns).any(|one| one.progress == UpstreamProgress::Processing)
}

/// Returns the times of the completed returns that infractions caused. A return whose time the acquirer does not report
/// is left out.
pub(crate) fn return_times(returns: &[UpstreamReturn]) -> impl Iterator<Item = Timestamp> {
    of_infractions(returns).filter_map(|one| match one.progress {
        UpstreamProgress::Done { at } => at,
        UpstreamProgress::Processing | UpstreamProgress::Failed { .. } => None,
    })
}

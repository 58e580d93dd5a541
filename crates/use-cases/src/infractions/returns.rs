//! Which returns of a received Pix belong to an infraction: those need nobody's look.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::money::Money;
use cais_ports::{ReturnNature, UpstreamProgress, UpstreamReturn};

use crate::ports::Ports;
use crate::trouble::Trouble;

/// Whether an infraction accounts for the return: its acquirer took it, and tells of the infraction itself.
pub(crate) fn explains(ports: &Ports, acquirer: &AcquirerName, upstream: &UpstreamReturn) -> bool {
    upstream.nature == ReturnNature::Infraction
        && ports.acquirers.named(acquirer).is_some_and(|acquirer| acquirer.tells_infractions())
}

/// What of the returns of a Pix an acquirer took because of infractions, and that did not fail.
pub(crate) fn of_infractions(returns: &[UpstreamReturn]) -> impl Iterator<Item = &UpstreamReturn> {
    returns.iter().filter(|one| {
        one.nature == ReturnNature::Infraction
            && match one.progress {
                UpstreamProgress::Processing | UpstreamProgress::Done { .. } => true,
                UpstreamProgress::Failed { .. } => false,
            }
    })
}

/// The sum of them.
pub(crate) fn taken_back(returns: &[UpstreamReturn]) -> Result<Money, Trouble> {
    Money::sum(of_infractions(returns).map(|one| one.amount)).map_err(|error| Trouble::Internal(error.to_string()))
}

//! Which returns of a received Pix belong to an infraction: those need nobody's look.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{ReturnNature, UpstreamReturn};

use crate::ports::Ports;

/// Whether an infraction accounts for the return: its acquirer took it, and tells of the infraction itself.
pub(crate) fn explains(ports: &Ports, acquirer: &AcquirerName, upstream: &UpstreamReturn) -> bool {
    upstream.nature == ReturnNature::Infraction
        && ports.acquirers.named(acquirer).is_some_and(|acquirer| acquirer.tells_infractions())
}

//! How resources look on the wire, for what is stored before it is sent: answers and events.

use cais_domain::charge::Charge;

/// Renders resources exactly as their GET returns them.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Representation: Send + Sync {
    /// A charge, as a JSON object.
    fn charge(&self, charge: &Charge) -> Vec<u8>;
}

//! The balance of an account at an acquirer.

use cais_domain::money::Money;

/// The balance of the account, as the acquirer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountBalance {
    /// The amount that can be sent.
    pub available: Money,
    /// The amount that the acquirer blocks.
    pub blocked: Money,
}

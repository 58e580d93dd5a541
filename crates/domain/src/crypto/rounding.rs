//! All roundings of crypto operations, by their purpose. Each rounding favors the service by less than one unit.

use crate::rate::Rounding;

/// The BRL for one coin of a deposit.
pub const DEPOSIT_RATE: Rounding = Rounding::Floor;
/// The BRL for one coin of a withdrawal.
pub const WITHDRAWAL_RATE: Rounding = Rounding::Ceiling;
/// The coins that a payer must send.
pub const COINS_TO_PAY_IN: Rounding = Rounding::Ceiling;
/// The coins that a recipient receives.
pub const COINS_PAID_OUT: Rounding = Rounding::Floor;
/// The BRL value of coins that arrived.
pub const WORTH_OF_COINS: Rounding = Rounding::Floor;
/// The coins of a minimum, commercial or technical.
pub const MINIMUM: Rounding = Rounding::Ceiling;
/// The BRL value of a minimum.
pub const MINIMUM_IN_BRL: Rounding = Rounding::Ceiling;

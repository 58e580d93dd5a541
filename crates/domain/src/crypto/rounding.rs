//! Every rounding of crypto operations, by its purpose. Each is in favor of the service, by less than one unit.

use crate::rate::Rounding;

/// BRL per coin of a deposit.
pub const DEPOSIT_RATE: Rounding = Rounding::Floor;
/// BRL per coin of a withdrawal.
pub const WITHDRAWAL_RATE: Rounding = Rounding::Ceiling;
/// Coins that a payer has to pay in.
pub const COINS_TO_PAY_IN: Rounding = Rounding::Ceiling;
/// Coins that a recipient receives.
pub const COINS_PAID_OUT: Rounding = Rounding::Floor;
/// Centavos for coins that arrived.
pub const WORTH_OF_COINS: Rounding = Rounding::Floor;
/// Coins of a minimum, commercial or technical.
pub const MINIMUM: Rounding = Rounding::Ceiling;
/// Centavos of a minimum.
pub const MINIMUM_IN_BRL: Rounding = Rounding::Ceiling;

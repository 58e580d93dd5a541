//! All roundings of crypto operations, by their purpose. Each rounding favors the service by less than one unit, except
//! [`ECHOED_COINS`], which serves only a comparison.

use crate::rate::Rounding;

/// The BRL for one coin of a deposit.
pub const DEPOSIT_RATE: Rounding = Rounding::Floor;
/// The BRL for one coin of a withdrawal.
pub const WITHDRAWAL_RATE: Rounding = Rounding::Ceiling;
/// The coins that a payer must send.
pub const COINS_TO_PAY_IN: Rounding = Rounding::Ceiling;
/// The coins that a recipient receives.
pub const COINS_PAID_OUT: Rounding = Rounding::Floor;
/// The coins that arrived or that the processor holds, without the digits below the smallest unit of the chain.
pub const SHOWN_COINS: Rounding = Rounding::Floor;
/// The coins of an order, as the processor repeats them in its reply. The processor may calculate with floats, so the
/// repeated value is rounded to the nearest unit before it is compared with the order.
pub const ECHOED_COINS: Rounding = Rounding::HalfEven;
/// The network fee that the processor reports. The fee is only shown, and no amount depends on it.
pub const NETWORK_FEE: Rounding = Rounding::Ceiling;
/// The BRL value of coins that arrived.
pub const WORTH_OF_COINS: Rounding = Rounding::Floor;
/// A minimum in coins: the service's own (commercial) or the processor's (technical).
pub const MINIMUM: Rounding = Rounding::Ceiling;
/// The BRL value of a minimum.
pub const MINIMUM_IN_BRL: Rounding = Rounding::Ceiling;

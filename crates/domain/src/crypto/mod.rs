//! Crypto deposits and withdrawals. The balance of a merchant is always in BRL.

mod address;
mod amount;
mod currency;
pub mod deposit;
mod minimum;
mod processor_id;
pub mod quote;
pub mod rate;
pub mod rounding;
mod side;
pub mod withdrawal;

pub use address::{Address, AddressError};
pub use amount::{CryptoAmount, CryptoAmountError};
pub use currency::{Currency, UnsupportedCurrency};
pub use deposit::Deposit;
pub use minimum::Minimum;
pub use processor_id::{ProcessorId, ProcessorIdError};
pub use quote::Quote;
pub use rate::{Rate, RateError, RateInputs};
pub use side::Side;
pub use withdrawal::Withdrawal;

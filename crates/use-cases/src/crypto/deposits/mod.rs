//! Use cases of crypto deposits.
//!
//! The processor creates a new address at each request. An address that no payer sees expires without effect, so a
//! deposit may be requested again after a look-up by our id. Only the address of commit 2 is shown.
//!
//! | record of the processor | consequence |
//! |---|---|
//! | waiting | expires once the payment period is over |
//! | confirming, confirmed, sending | confirming; `crypto.deposit.confirmed` is published once |
//! | finished or partially paid, with coins | the coins are credited, or wait for an operator |
//! | failed or expired, with coins | the coins wait for an operator, and are credited if the payment finishes |
//! | failed, expired or refunded, without a credit | failed, expired or refunded |
//!
//! Later payments to the same address have identifiers of their own and name the first payment as their parent. Each
//! identifier is credited once.

pub(crate) mod callback;
pub mod create;
pub mod fetch;
pub mod list;
mod order;
pub mod payments;
pub mod poll;
mod resource;
pub mod review;
pub(crate) mod sync;

pub use fetch::DepositName;

//! Use cases of crypto deposits.
//!
//! The processor creates a new address for each request. An address that no payer has seen expires without effect. So a
//! deposit may be requested again if a look-up by its id finds no record. Payers see only the address that the second
//! commit of the creation stores.
//!
//! | record of the processor | consequence |
//! |---|---|
//! | waiting | the deposit expires when the payment period is over |
//! | confirming | the deposit is confirming |
//! | confirmed, sending | the deposit is confirming; `crypto.deposit.confirmed` is published, once per deposit |
//! | finished or partially paid, with coins | the coins are credited, or wait for an operator |
//! | failed or expired, with coins | the coins wait for an operator; they are credited if the payment finishes |
//! | failed, expired or refunded, without a credit | the deposit is failed, expired or refunded |
//!
//! A later payment to the same address has its own identifier, and has the first payment as its parent. Each payment is
//! credited once, by its identifier.

pub(crate) mod callback;
pub mod create;
pub mod fetch;
mod keyed;
pub mod list;
mod order;
pub mod payments;
pub mod poll;
pub mod review;
pub(crate) mod sync;

pub use fetch::DepositName;

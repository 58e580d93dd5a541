//! Use cases of crypto withdrawals.
//!
//! A withdrawal leaves in two calls: the creation, sent once, and the verification by a one-time code. The processor
//! does not recognize a repeated creation, so no second one is ever sent.
//!
//! | after the creation | consequence |
//! |---|---|
//! | refused, and the look-up finds nothing | failed, the hold is given back |
//! | certainly not accepted | abandoned, the hold is given back, the caller may repeat |
//! | unknown outcome, or a crash before the reply | processing; the processor is searched by our identifier |
//! | shown, not verified | processing; each poll verifies it once, with a fresh code |
//! | shown as `Rejected` | failed, the hold is given back |
//! | shown as `Failed` | processing, marked for review: the processor may still send the coins |
//! | not shown, or with other coins, for ten minutes | processing, marked for review: absence is never proof |
//!
//! Absence is no proof, because a list can lag behind and an account can be configured without verification. Only a
//! record of the processor or an operator ends such a withdrawal.
//!
//! The verification follows the commit that stores the batch. So a withdrawal that an operator failed is never verified
//! later, and its batch, if one appears, is rejected by the processor.

pub mod callback;
pub mod create;
pub mod fetch;
pub mod list;
mod order;
pub mod poll;
mod resource;
pub mod review;
mod steps;
pub(crate) mod sync;

pub use fetch::WithdrawalName;

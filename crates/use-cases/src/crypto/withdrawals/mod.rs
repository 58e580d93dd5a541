//! Use cases of crypto withdrawals.
//!
//! A withdrawal needs two calls: the creation, which is sent once, and the verification by a one-time code. The
//! processor would execute a repeated creation as a second withdrawal, so the creation is never repeated.
//!
//! | after the creation | consequence |
//! |---|---|
//! | refused, and the look-up finds no withdrawal | failed, the hold is released |
//! | certainly not accepted | abandoned, the hold is released, the caller may repeat the request |
//! | unknown outcome, or a crash before the reply | processing; the withdrawal is looked up by our identifier |
//! | shown, not verified | processing; each poll verifies it once, with a new code |
//! | shown as `Rejected` | failed, the hold is released |
//! | shown as `Failed` | processing, marked for review: the processor may still send the coins |
//! | not shown, or shown with other coins, for ten minutes | processing, marked for review: absence is never proof |
//!
//! Absence proves nothing: a list can lag behind, and a processor's account may be configured to send without
//! verification. So only a record of the processor, or an operator, ends such a withdrawal.
//!
//! The processor assigns each withdrawal to a batch. A withdrawal is verified only after the commit that stores the id
//! of its batch. So a withdrawal that an operator has marked as failed is never verified later. If its batch appears,
//! the batch stays unverified, and the processor rejects the batch after an hour.

pub mod callback;
mod changes;
pub mod create;
mod decide;
pub mod fetch;
mod keyed;
pub mod list;
mod order;
pub mod poll;
pub mod review;
pub(crate) mod sync;

pub use fetch::WithdrawalName;

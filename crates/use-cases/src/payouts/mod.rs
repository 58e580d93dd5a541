//! Use cases of payouts.
//!
//! The path of a payout through the crates:
//!
//! | step | file |
//! |---|---|
//! | request | `http-api/src/payouts/create.rs`, with the body in `request.rs` |
//! | check, and hold of the money | `create` in this folder, with the rules of `domain/src/payout/transitions.rs` |
//! | commit 1 | `upstream_order/create.rs`; the row is `persistence/src/rows/payout.rs` |
//! | sending | `order` in this folder, then `acquirers/src/efi/payout.rs` or `acquirers/src/woovi/payout.rs` |
//! | decision on the outcome | `upstream_result.rs`, then `decide` in this folder; `changes` builds the event and the change set |
//! | commit 2 and response | `upstream_order/complete.rs`; `http-api/src/resources/payout.rs` has the form of the body |
//! | open outcome, and returns | `poll` and `sync` in this folder |

mod changes;
pub mod create;
pub mod credit_return;
mod decide;
pub mod fetch;
mod keyed;
pub mod list;
mod order;
pub mod poll;
pub mod preview;
pub(crate) mod sync;

pub use fetch::PayoutName;

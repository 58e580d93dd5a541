//! Use cases of payouts.
//!
//! The path of a payout through the crates:
//!
//! | step | file |
//! |---|---|
//! | request | `http-api/src/payouts/create.rs`, with the body in `request.rs` |
//! | check and hold | `create` here, with the rules of `domain/src/payout/transitions.rs` |
//! | first commit | `upstream_order/create.rs`; the row is `persistence/src/rows/payout.rs` |
//! | sending | `order` here, then `acquirers/src/efi/payout.rs` or `acquirers/src/woovi/payout.rs` |
//! | decision on the outcome | `resource` here, with `upstream_result.rs`; `steps` makes event and change set |
//! | second commit and response | `upstream_order/complete.rs`, in the form of `http-api/src/representation/payout.rs` |
//! | open outcome, and returns | `poll` and `sync` here |

pub mod create;
pub mod credit_return;
pub mod fetch;
pub mod list;
mod order;
pub mod poll;
pub mod preview;
mod resource;
mod steps;
pub(crate) mod sync;

pub use fetch::PayoutName;

//! Use cases of refunds.
//!
//! The path of a refund through the crates:
//!
//! | step | file |
//! |---|---|
//! | request | `http-api/src/refunds/create.rs`, with the body in `request.rs` |
//! | check, and hold of the money | `create` in this folder, with the rules of `domain/src/refund/transitions.rs` |
//! | commit 1 | `upstream_order/create.rs`; the row is `persistence/src/rows/refund.rs` |
//! | sending | `order` in this folder, then `acquirers/src/bacen/refund.rs` or `acquirers/src/woovi/refund.rs` |
//! | decision on the outcome | `upstream_result.rs`, then `decide`; `changes` builds the event and the change set |
//! | commit 2 and response | `upstream_order/complete.rs`; the body is `http-api/src/resources/refund.rs` |
//! | open outcome | `poll` and `sync` in this folder |

mod changes;
pub mod create;
mod decide;
pub mod fetch;
mod keyed;
pub mod list;
mod order;
pub mod poll;
pub(crate) mod sync;

pub use fetch::RefundName;
